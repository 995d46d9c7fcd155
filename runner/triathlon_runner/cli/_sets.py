"""`triathlon sets`: what the evolved discipline's sets tell beside the board's pass@1."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.cli._app import examples, group_of_commands
from triathlon_runner.cli._names import Models, complete_suites, names
from triathlon_runner.cli._options import AsJson, Common, Data, Results, catalogue_beside, data_store, numbers
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.errors import UserError
from triathlon_runner.evolved import PASS_AT_1, analysis, pass_at_k
from triathlon_runner.evolved.contamination import Contamination, Shared, contamination
from triathlon_runner.models_yaml import check_names
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.store import ResultsFolder, replace_file
from triathlon_runner.suites import Programs
from triathlon_runner.terminal import console, counted, table

sets_app = group_of_commands(
    "sets",
    "The sets of the evolved discipline.",
    "triathlon sets compare evolved/core-seeds evolved/core-subtle",
)

ByModel = dict[str, tuple[EvolvedRecord, ...]]


@sets_app.command(epilog=examples("triathlon sets compare evolved/core-seeds evolved/core-subtle"))
def compare(
    first: Annotated[
        str, typer.Argument(help="A suite, such as evolved/core-seeds.", autocompletion=complete_suites)
    ],
    second: Annotated[
        str, typer.Argument(help="Another one of the same family.", autocompletion=complete_suites)
    ],
    models: Models = None,
    results: Results = Common.results,
    as_json: AsJson = False,
) -> None:
    """Problem by problem: solved in the one set but not in the other, and the reverse, with McNemar's test.

    Problems are linked by what they were evolved from.
    On sets as hard as their seeds, more of the first kind says that a model remembers.
    On harder sets it says difficulty.
    """
    (family, first_set), (second_family, second_set) = _set_of(first), _set_of(second)
    if family != second_family:
        raise UserError(f"{first!r} and {second!r} are of two families; their problems are not related")
    measured = analysis.measured(_results(results, models), {}).get(family)
    rows = [
        (model, pair)
        for model in (measured.units if measured else ())
        if measured and (pair := measured.paired(model, first_set, second_set)) is not None
    ]
    if not rows:
        raise UserError(
            f"no model has results on related problems of {first!r} and {second!r}; run both first"
        )
    if as_json:
        console().print_json(data=[{"model": model, **_counts(pair)} for model, pair in rows])
        return
    head = ("model", "problems", "both", f"{first_set} only", f"{second_set} only", "neither", "p")
    _show(
        head,
        [(model, pair.n, *list(_counts(pair).values())[:4], f"{pair.p_value:.3g}") for model, pair in rows],
    )


def _set_of(suite: str) -> tuple[analysis.Source, str]:
    catalogue_beside().select([suite])
    family_and_set = analysis.source_of(suite)
    if family_and_set is None:
        raise UserError(f"expected a set of the evolved discipline, got {suite!r}; see `triathlon suites`")
    return family_and_set


def _counts(pair: analysis.Paired) -> dict[str, float]:
    return {name: getattr(pair, name) for name in ("both", "first_only", "second_only", "neither", "p_value")}


@sets_app.command(
    "samples", epilog=examples("triathlon sets samples evolved/core-difficult@temperature-0.8 --k 1,10")
)
def report_samples(
    suite: Annotated[
        str,
        typer.Argument(
            help="A suite, such as evolved/core-seeds@temperature-0.8.", autocompletion=complete_suites
        ),
    ],
    k: Annotated[str | None, typer.Option(help="Separated by commas; left out: 1 to the samples.")] = None,
    models: Models = None,
    results: Results = Common.results,
    as_json: AsJson = False,
) -> None:
    """The unbiased pass@k of each model over the tasks that have at least k samples."""
    catalogue_beside().select([suite])
    stored = _results(results, models)
    by_model = {model: suites[suite] for model, suites in stored.items() if suites.get(suite)}
    if not by_model:
        raise UserError(f"no model has results on {suite!r}; run it first")
    ks = numbers("--k", k) if k is not None else range(1, max(map(_samples, by_model.values())) + 1)
    rows = [_pass_at(model, records, ks) for model, records in by_model.items()]
    if as_json:
        console().print_json(data=rows)
        return
    head = ("model", "tasks", "samples", *(f"pass@{number}" for number in ks))
    _show(head, [[row[name] if name in head[:3] else _cell(row, name) for name in head] for row in rows])


def _cell(row: Mapping[str, Any], name: str) -> str | None:
    """A pass@k, with its tasks where not all of the model's have so many samples."""
    if row[name] is None:
        return None
    tasks = row[f"{name}_tasks"]
    return f"{row[name]:.3f}" + (f" ({counted(tasks, 'task')})" if tasks < row["tasks"] else "")


def _samples(records: Iterable[EvolvedRecord]) -> int:
    """Returns the largest number of samples of a task."""
    return max(Counter(record.task_id for record in records).values())


def _pass_at(model: str, records: Sequence[EvolvedRecord], ks: Iterable[int]) -> dict[str, Any]:
    samples = _samples(records)
    row: dict[str, Any] = {"model": model, "tasks": len(PASS_AT_1.contributions(records)), "samples": samples}
    for k in ks:
        metric = pass_at_k(k)
        row[f"pass@{k}"] = metric.score(records) if k <= samples else None
        row[f"pass@{k}_tasks"] = len(metric.contributions(records))
    return row


def _results(folder: Path, models: str | None) -> dict[str, ByModel]:
    stored = analysis.read_results(ResultsFolder(folder))
    wanted_models = names(models)
    check_names(wanted_models or (), list(stored), what="model with results")
    return {
        model: suites for model, suites in stored.items() if wanted_models is None or model in wanted_models
    }


@sets_app.command("contamination", epilog=examples("triathlon sets contamination evolved/core-subtle"))
def report_contamination(
    suite: Annotated[
        str, typer.Argument(help="A suite, such as evolved/core-subtle.", autocompletion=complete_suites)
    ],
    out: Annotated[Path | None, typer.Option(help="File that gets one JSON line a problem.")] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """For each problem the longest passage that it shares with its parents and with the rest of its set."""
    if (entry := catalogue_beside().find(suite)) is not None and entry.user_data is not None:
        raise UserError(
            f"expected a set that was evolved from another one, such as evolved/core-subtle, got {suite!r}, a"
            " data set of your own: of that no parents are known"
        )
    (entry,), store = BUILT_IN.select([suite]), data_store(data)
    seeds = () if entry.seeds in (None, entry.id) else _problems(entry.seeds, store)
    report = sorted(contamination(_problems(suite, store), seeds), key=lambda p: (-_largest(p), p.task_id))
    lines = [
        {
            "task_id": problem.task_id,
            "words": problem.words,
            "copied": problem.copied,
            "parent": _as_json(problem.parent),
            "rest": _as_json(problem.rest),
        }
        for problem in report
    ]
    if out is not None:
        replace_file(out, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    if as_json:
        console().print_json(data=lines)
        return
    head = ("problem", "words", "with a parent", "", "with the rest", "")
    _show(head, [(p.task_id, p.words, *_cells(p.parent), *_cells(p.rest)) for p in report])
    copies = sum(problem.copied for problem in report)
    console().print_message(
        f"{copies} of {len(report)} problems share half of their words or more in one passage"
    )


def _problems(suite: str, store: DataStore) -> Sequence[Problem]:
    (entry,) = BUILT_IN.select([suite])
    built = entry.build(store)
    if not isinstance(built, Programs):
        raise UserError(
            f"the tasks of {suite!r} are no functions to write; name a suite such as evolved/subtle"
        )
    problems = [problem for problem in built.functions() if isinstance(problem, Problem)]
    if len(problems) < len(built.functions()):
        raise UserError(
            f"the problems of {suite!r} repeat their base problem on purpose, so there is no copying to find;"
            " name another suite such as evolved/subtle"
        )
    return problems


def _largest(problem: Contamination) -> float:
    """Returns the share of the longest passage that a problem has in common with others."""
    return max((shared.share for shared in (problem.parent, problem.rest) if shared), default=0.0)


def _as_json(shared: Shared | None) -> dict[str, Any] | None:
    if shared is None:
        return None
    fields = {"task_id": shared.other_task_id, "words": shared.words}
    return {**fields, "share": round(shared.share, 4), "passage": shared.passage}


def _cells(shared: Shared | None) -> tuple[str, str]:
    return ("", "") if shared is None else (f"{shared.share:.0%} ({shared.words})", shared.other_task_id)


def _show(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table with text on the left and numbers on the right; None is shown as a dash."""
    shown = table(*head, right=[name for name in head[1:] if name])
    for row in rows:
        shown.add_row(*("–" if cell is None else str(cell) for cell in row))
    console().print(shown)
