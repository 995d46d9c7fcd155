"""`triathlon sets`: what the evolved discipline's sets tell beside the board's pass@1."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from triathlon_runner import catalogue
from triathlon_runner.cli._app import Common, Data, Names, Results, app, console, data_store, names
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.errors import UserError
from triathlon_runner.evolved import PASS_AT_1, analysis, pass_at_k
from triathlon_runner.evolved.contamination import Contamination, Shared, contamination
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.registry import check_names
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.suites import Programs

sets_app = typer.Typer(help="The sets of the evolved discipline.", no_args_is_help=True)
app.add_typer(sets_app, name="sets")

AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]
Suite = Annotated[str, typer.Argument(help="A suite, such as evolved/core-subtle.")]
ByModel = dict[str, tuple[EvolvedRecord, ...]]


@sets_app.callback()
def sets() -> None:
    """The evolved discipline's sets: do they copy, do models remember, what do more samples give?"""


@sets_app.command(name="contamination")
def report_contamination(
    suite: Suite,
    out: Annotated[Path | None, typer.Option(help="File that gets one JSON line a problem.")] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """For each problem the longest passage that it shares with its parents and with the rest of its set."""
    problems, seeds = _problems(suite, data_store(data))
    report = sorted(contamination(problems, seeds), key=lambda one: (-_largest(one), one.task_id))
    lines = [_line(one) for one in report]
    if out is not None:
        replace_file(out, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    if as_json:
        console().print_json(json.dumps(lines))
        return
    head = ("problem", "words", "with a parent", "", "with the rest", "")
    _show(head, [(one.task_id, one.words, *_cells(one.parent), *_cells(one.rest)) for one in report])
    copies = sum(one.copied for one in report)
    _say(f"{copies} of {len(report)} problems share half of their words or more in one passage")


def _problems(suite: str, store: DataStore) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """A suite's problems, and those that they were evolved from."""
    (entry,) = catalogue.select([suite])
    built = entry.build(store)
    if not isinstance(built, Programs):
        raise UserError(
            f"the tasks of {suite!r} are no functions to write; name a suite such as evolved/subtle"
        )
    if entry.seeds in (None, entry.id):
        return built.functions(), ()
    (parents,) = catalogue.select([entry.seeds or ""])
    seeds = parents.build(store)
    assert isinstance(seeds, Programs)
    return built.functions(), seeds.functions()


def _largest(one: Contamination) -> float:
    return max((shared.share for shared in (one.parent, one.rest) if shared is not None), default=0.0)


def _line(one: Contamination) -> dict[str, Any]:
    found = {"parent": one.parent, "rest": one.rest}
    return {
        "task_id": one.task_id,
        "words": one.words,
        "copied": one.copied,
        **{name: None if it is None else _plain(it) for name, it in found.items()},
    }


def _plain(shared: Shared) -> dict[str, Any]:
    return {
        "task_id": shared.other,
        "words": shared.words,
        "share": round(shared.share, 4),
        "passage": shared.passage,
    }


def _cells(shared: Shared | None) -> tuple[str, str]:
    return ("", "") if shared is None else (f"{shared.share:.0%} ({shared.words})", shared.other)


@sets_app.command()
def compare(
    first: Annotated[str, typer.Argument(help="A suite, such as evolved/core-seeds.")],
    second: Annotated[str, typer.Argument(help="Another one of the same family.")],
    models: Names = None,
    results: Results = Common.results,
    as_json: AsJson = False,
) -> None:
    """Problem by problem: solved in the one set but not in the other, and the reverse, with McNemar's test.

    Problems are linked by what they were evolved from. On sets as hard as their seeds, more of the first kind
    says that a model remembers; on harder sets it says difficulty.
    """
    one, two = _set_of(first), _set_of(second)
    if one[0] != two[0]:
        raise UserError(f"{first!r} and {second!r} are of two families; their problems are not related")
    found = analysis.measured(_results(results, models), {}).get(one[0])
    rows = [
        (model, pair)
        for model in (found.units if found else ())
        if found and (pair := found.paired(model, one[1], two[1])) is not None
    ]
    if not rows:
        raise UserError(
            f"no model has results on related problems of {first!r} and {second!r}; run both first"
        )
    if as_json:
        console().print_json(json.dumps([{"model": model, **_counts(pair)} for model, pair in rows]))
        return
    head = ("model", "problems", "both", f"{one[1]} only", f"{two[1]} only", "neither", "p")
    _show(
        head,
        [(model, pair.n, *list(_counts(pair).values())[:4], f"{pair.p_value:.3g}") for model, pair in rows],
    )


def _set_of(suite: str) -> tuple[analysis.Source, str]:
    catalogue.select([suite])
    found = analysis.source_of(suite)
    if found is None:
        raise UserError(f"expected a set of the evolved discipline, got {suite!r}; see `triathlon suites`")
    return found


def _counts(pair: analysis.Paired) -> dict[str, float]:
    return {
        "both": pair.both,
        "first_only": pair.first_only,
        "second_only": pair.second_only,
        "neither": pair.neither,
        "p_value": pair.p_value,
    }


@sets_app.command(name="samples")
def report_samples(
    suite: Annotated[str, typer.Argument(help="A suite, such as evolved/core-seeds@temperature-0.8.")],
    k: Annotated[str | None, typer.Option(help="Separated by commas; left out: 1 to the samples.")] = None,
    models: Names = None,
    results: Results = Common.results,
    as_json: AsJson = False,
) -> None:
    """The unbiased pass@k of each model over the tasks that have at least k samples."""
    catalogue.select([suite])
    read = _results(results, models)
    by_model = {model: suites[suite] for model, suites in read.items() if suites.get(suite)}
    if not by_model:
        raise UserError(f"no model has results on {suite!r}; run it first")
    wanted = _numbers(k) if k is not None else range(1, max(map(_samples, by_model.values())) + 1)
    rows = [_pass_at(model, records, wanted) for model, records in by_model.items()]
    if as_json:
        console().print_json(json.dumps(rows))
        return
    _show(tuple(rows[0]), [[f"{x:.3f}" if isinstance(x, float) else x for x in row.values()] for row in rows])


def _numbers(text: str) -> list[int]:
    parts = names(text) or []
    if not parts or not all(part.isdecimal() and int(part) for part in parts):
        raise UserError(f"expected whole numbers above 0 at --k, such as 1,5,10, got {text!r}")
    return [int(part) for part in parts]


def _samples(records: Iterable[EvolvedRecord]) -> int:
    """The most samples that a task has."""
    return max(Counter(record.task_id for record in records).values())


def _pass_at(model: str, records: Sequence[EvolvedRecord], wanted: Iterable[int]) -> dict[str, Any]:
    most = _samples(records)
    scores = {f"pass@{k}": pass_at_k(k).score(records) if k <= most else None for k in wanted}
    tasks = len(PASS_AT_1.contributions(records))
    return {"model": model, "tasks": tasks, "samples": most, **scores}


def _results(folder: Path, models: str | None) -> dict[str, ByModel]:
    read = analysis.read_results(ResultsFolder(folder))
    wanted = names(models)
    check_names(wanted or (), list(read), what="model with results")
    return {model: suites for model, suites in read.items() if wanted is None or model in wanted}


def _show(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 or not name else "right", overflow="fold")
    for row in rows:
        table.add_row(*("–" if cell is None else escape(str(cell)) for cell in row))
    console().print(table)


def _say(text: str) -> None:
    console().print(text, markup=False, highlight=False)
