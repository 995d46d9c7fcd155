"""`triathlon sets contamination`: whether a set copies its seeds or itself."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from triathlon_runner import catalogue
from triathlon_runner.cli._app import examples
from triathlon_runner.cli._options import AsJson, Data, data_store
from triathlon_runner.cli._sets import sets_app, show
from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.contamination import Contamination, Shared, contamination
from triathlon_runner.store import replace_file
from triathlon_runner.suites import Programs
from triathlon_runner.terminal import console


@sets_app.command(
    name="contamination",
    epilog=examples(
        "triathlon sets contamination evolved/core-subtle",
    ),
)
def report_contamination(
    suite: Annotated[str, typer.Argument(help="A suite, such as evolved/core-subtle.")],
    out: Annotated[Path | None, typer.Option(help="File that gets one JSON line a problem.")] = None,
    as_json: AsJson = False,
    data: Data = None,
) -> None:
    """For each problem the longest passage that it shares with its parents and with the rest of its set."""
    problems, seeds = _problems(suite, data_store(data))
    report = sorted(contamination(problems, seeds), key=lambda problem: (-_largest(problem), problem.task_id))
    lines = [_line(problem) for problem in report]
    if out is not None:
        replace_file(out, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    if as_json:
        console().print_json(data=lines)
        return
    head = ("problem", "words", "with a parent", "", "with the rest", "")
    show(head, [(p.task_id, p.words, *_cells(p.parent), *_cells(p.rest)) for p in report])
    copies = sum(problem.copied for problem in report)
    console().print_message(
        f"{copies} of {len(report)} problems share half of their words or more in one passage"
    )


def _problems(suite: str, store: DataStore) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """Returns a suite's problems, and those that they were evolved from."""
    (entry,) = catalogue.select([suite])
    built = entry.build(store)
    if not isinstance(built, Programs):
        raise UserError(
            f"the tasks of {suite!r} are no functions to write; name a suite such as evolved/subtle"
        )
    if entry.seeds in (None, entry.id):
        return _with_docstrings(suite, built), ()
    (parents,) = catalogue.select([entry.seeds or ""])
    seeds = parents.build(store)
    assert isinstance(seeds, Programs)
    return _with_docstrings(suite, built), _with_docstrings(entry.seeds or "", seeds)


def _with_docstrings(suite: str, built: Programs) -> Sequence[Problem]:
    """Returns the suite's problems.

    Raises:
        UserError: they hold their base problem's text on purpose.
    """
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


def _line(problem: Contamination) -> dict[str, Any]:
    return {
        "task_id": problem.task_id,
        "words": problem.words,
        "copied": problem.copied,
        "parent": _plain(problem.parent),
        "rest": _plain(problem.rest),
    }


def _plain(shared: Shared | None) -> dict[str, Any] | None:
    if shared is None:
        return None
    return {
        "task_id": shared.other_task_id,
        "words": shared.words,
        "share": round(shared.share, 4),
        "passage": shared.passage,
    }


def _cells(shared: Shared | None) -> tuple[str, str]:
    return ("", "") if shared is None else (f"{shared.share:.0%} ({shared.words})", shared.other_task_id)
