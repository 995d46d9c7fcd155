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
    report = sorted(contamination(problems, seeds), key=lambda one: (-_largest(one), one.task_id))
    lines = [_line(one) for one in report]
    if out is not None:
        replace_file(out, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    if as_json:
        console().print_json(json.dumps(lines))
        return
    head = ("problem", "words", "with a parent", "", "with the rest", "")
    show(head, [(one.task_id, one.words, *_cells(one.parent), *_cells(one.rest)) for one in report])
    copies = sum(one.copied for one in report)
    console().print_message(
        f"{copies} of {len(report)} problems share half of their words or more in one passage"
    )


def _problems(suite: str, store: DataStore) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """A suite's problems, and those that they were evolved from."""
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
    """The suite's problems.

    Raises:
        UserError: they hold their base problem's text on purpose.
    """
    problems = [one for one in built.functions() if isinstance(one, Problem)]
    if len(problems) < len(built.functions()):
        raise UserError(
            f"the problems of {suite!r} repeat their base problem on purpose, so there is no copying to find;"
            " name another suite such as evolved/subtle"
        )
    return problems


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
        "task_id": shared.other_task_id,
        "words": shared.words,
        "share": round(shared.share, 4),
        "passage": shared.passage,
    }


def _cells(shared: Shared | None) -> tuple[str, str]:
    return ("", "") if shared is None else (f"{shared.share:.0%} ({shared.words})", shared.other_task_id)
