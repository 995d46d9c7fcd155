"""`triathlon models` and `triathlon suites`: what is registered, and what of it can run here."""

from collections.abc import Sequence
from typing import Annotated, Final

import typer

from triathlon_runner import models_yaml
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import catalogue_beside, data_store
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.schedule import why_not
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import console, table

_GRADED_NOTE: Final = """
here: its data is in the package, or on this machine; or is fetched when run (or --data FOLDER).
graded: outside: expected values, comparison and verdict never are in the process of a model's program; \
in part: coverage, state and path are read and compared outside; output is an assertion of the data set, \
filled in with an expression of plain values, and runs in one process with the data set's own program.
`grade --problems` refuses problems whose tests cannot run in another process than the program."""


@cli.command("triathlon models", "triathlon models gpt-4-turbo", "triathlon models --json")
def models(
    model: Annotated[
        str | None,
        typer.Argument(help="Shows all that is known of this one.", autocompletion=cli.complete_models),
    ] = None,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    as_json: cli.AsJson = False,
) -> None:
    """The models of models.yaml and whether they can run here."""
    listed = models_yaml.load(models_file)
    chosen = listed.select(None if model is None else [model])
    rows = [_model(row) for row in chosen]
    if as_json:
        console().print_json(data=rows)
    elif model is not None:
        (row,) = chosen
        facts = table("field", "value", whole=["field"], titles=False)
        for name, value in (rows[0] | _details(row)).items():
            if value:
                facts.add_row(name, value)
        console().print(facts)
    else:
        _show([{**row, "here": _in_short(row["here"])} for row in rows], ["id", "kind", "parameters", "here"])


def _in_short(here: str) -> str:
    """Returns whether a model can run here, shortened for a table; `models ID` has the sentence."""
    return "no GPU" if here.startswith("no GPU") else here.replace("set the environment variable ", "")


def _model(row: ModelRow) -> dict[str, str]:
    return {
        "id": row.id,
        "name": row.name,
        "kind": row.kind,
        "parameters": row.parameters or "",
        "license": row.license or "",
        "reached by": "vLLM, started here" if row.serve else row.api.base_url if row.api else "",
        "here": why_not(row) or "ready",
    }


@cli.command("triathlon suites", "triathlon suites --variants --json")
def suites(
    data: cli.Data = None,
    variants: bool = False,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    as_json: cli.AsJson = False,
) -> None:
    """The suites, where they are graded and whether their data is here; --variants lists those too.

    Those of a suites.yaml beside the list of models are among them.
    """
    store = data_store(data, fetch=False)
    entries = catalogue_beside(models_file).entries()
    chosen = [entry for entry in entries if variants or entry.variant_of is None]
    data_of = {entry.id: data_here(entry, store) for entry in entries if entry.variant_of is None}
    rows = []
    for entry in chosen:
        name, here = data_of[entry.variant_of or entry.id]
        facts = {"id": entry.id, "title": entry.title, "graded": entry.graded}
        rows.append({**facts, "data": name, "here": here})
    if as_json:
        console().print_json(data=rows)
        return
    shown = [{**row, "here": row["here"].removeprefix("in the ")} for row in rows]
    _show(shown, ["id", "graded", "here", "title"])
    console().print(_GRADED_NOTE, soft_wrap=not console().is_terminal)


def data_here(entry: SuiteEntry, store: DataStore) -> tuple[str, str]:
    """Returns name and version of a suite's data, empty where it is not here, and where it is."""
    try:
        data = entry.build(store).data
    except DataUnavailableError:
        return "", "when run"
    return f"{data.name} {data.version}", "in the package" if entry.core else "here"


def _show(rows: list[dict[str, str]], columns: Sequence[str]) -> None:
    shown = table(*columns, whole=["id"])
    for row in rows:
        shown.add_row(*(row[name] for name in columns))
    console().print(shown)


def _details(row: ModelRow) -> dict[str, str]:
    """Returns the fields of a row that the table leaves out, in the row's order."""
    hidden = {"api", "serve", *_model(row)}
    fields = row.model_dump(mode="json", exclude_none=True, exclude_unset=True)
    details = {name: _in_words(value) for name, value in fields.items() if name not in hidden}
    if row.api is not None:
        details |= {"asked for as": row.api.model, "key from": row.api.key_env or "no key"}
    return {name.replace("_", " "): value for name, value in details.items()}


def _in_words(value: object) -> str:
    """Returns a field's value in words: `yes` for true, `input: 1.0, output: 4.0` for a mapping."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    return str(value)
