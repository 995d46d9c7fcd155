"""`triathlon models` and `triathlon suites`: what is registered and whether it can run here."""

import json
from typing import Annotated

import typer
from rich.table import Table

from triathlon_runner import catalogue, registry
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._options import Common, Data, ModelsFile, console, data_store
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.schedule import why_not
from triathlon_runner.suites import SuiteEntry

AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


@app.command(
    epilog=examples(
        "triathlon models",
        "triathlon models --json",
    )
)
def models(models_file: ModelsFile = Common.models_file, as_json: AsJson = False) -> None:
    """The models of models.yaml and whether they can run here."""
    listed = registry.load(models_file)
    rows = [
        {
            "id": row.id,
            "name": row.name,
            "kind": row.kind,
            "parameters": row.parameters or "",
            "license": row.license or "",
            "reached by": "vLLM, started here" if row.serve else row.api.base_url if row.api else "",
            "here": why_not(row) or "ready",
        }
        for row in listed.models
    ]
    _show(rows, as_json)


@app.command(
    epilog=examples(
        "triathlon suites",
        "triathlon suites --variants --json",
    )
)
def suites(data: Data = None, variants: bool = False, as_json: AsJson = False) -> None:
    """The suites, where they are judged and whether their data is here; --variants lists those too."""
    store = data_store(data, fetch=False)
    chosen = [entry for entry in catalogue.entries() if variants or entry.variant_of is None]
    _show([_suite(entry, store) for entry in chosen], as_json)
    if not as_json:
        console().print(_JUDGED_NOTE, soft_wrap=True)


_JUDGED_NOTE = """
judged: outside: expected values, comparison and verdict never are in the process of a model's program. \
in part: coverage, state and path are read and compared outside; output is an assertion of the data set, \
filled in with an expression of plain values, and runs in one process with the data set's own program.
`grade --problems` refuses problems whose tests cannot run in another process than the program."""


def _suite(entry: SuiteEntry, store: DataStore) -> dict[str, str]:
    try:
        data = entry.build(store).data
        named, where = f"{data.name} {data.version}", "in the package" if entry.core else "here"
    except DataUnavailableError:
        named, where = "", "fetched when it is run, or --data"
    return {"id": entry.id, "title": entry.title, "judged": entry.judged, "data": named, "here": where}


def _show(rows: list[dict[str, str]], as_json: bool) -> None:
    screen = console()
    if as_json:
        screen.print_json(json.dumps(rows))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0] if rows else ():
        table.add_column(name, overflow="fold", no_wrap=name == "id")
    for row in rows:
        table.add_row(*row.values())
    screen.print(table)
