"""`triathlon grade`: grades programs made elsewhere."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import read_catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import data_store, kept_verdicts
from triathlon_runner.datasets import DataStore, FunctionProblem
from triathlon_runner.datasets.user import problem_file
from triathlon_runner.errors import UserError
from triathlon_runner.grading import GradeReport, grade_samples
from triathlon_runner.suites import Programs
from triathlon_runner.terminal import console, counted, first_of, progress_lines, table

_SHOWN = 10


@cli.command(
    "triathlon grade samples.jsonl --suite evolved/humaneval-plus --out graded.jsonl",
    "triathlon grade samples/ --problems HumanEvalPlus.jsonl.gz",
)
def grade(
    samples: Annotated[Path, Argument(help="A folder `<task>/<n>.py`, or a file of samples in JSON.")],
    suite: Annotated[str | None, Option(help="Whose problems they are for.")] = None,
    problems: Annotated[
        Path | None, Option(help="File of problems: HumanEval, MBPP, EvalPlus or EvoEval.")
    ] = None,
    model: Annotated[str, Option(help="Whose programs these are; stands in every line.")] = "",
    out: Annotated[Path | None, Option(help="File that gets one JSON line a sample, at the end.")] = None,
    base_only: Annotated[bool, Option("--base-only", help="Grade on the base inputs alone.")] = False,
    k: Annotated[str, Option(help="Numbers of samples for pass@k, separated by commas: 1,10.")] = "1",
    partial: Annotated[bool, Option("--partial", help="Tasks without a sample are no fault.")] = False,
    jobs: Annotated[int | None, Option(min=1, help="Programs at once; left out: one a core.")] = None,
    data: cli.Data = None,
    as_json: cli.AsJson = False,
) -> None:
    """Grades samples and goes on where an earlier call stopped.

    Verdicts are kept in the cache: no program is graded twice while problem, tests and grader are the same.

    Exit code 0: every task has samples, and all were graded.
    1: tasks are missing or unknown, lines are broken, or samples could not be graded.
    2: something is for you to fix.
    """
    parts = [part.strip() for part in k.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,5}", part) for part in parts):
        raise UserError(
            f"expected --k as whole numbers from 1 to 999999, separated by commas (1,10), got {k!r:.80}"
        )
    ks = sorted(set(map(int, parts)))
    functions, inputs = _problems(suite, problems, data_store(data))
    report = asyncio.run(
        grade_samples(
            samples,
            functions,
            out=out,
            model=model,
            inputs="base" if base_only else inputs,
            jobs=jobs,
            keys=cache_folder() / "keys",
            verdicts=kept_verdicts(problems.name if problems else suite or ""),
            on_progress=progress_lines("triathlon grade", "sample"),
        )
    )
    whole = report.whole(partial=partial)
    # By name of the inputs, whether a score takes the base inputs alone of lines that have both.
    rows = {"base" if report.inputs == "base" else "all": False}
    if report.splits:
        rows = {"base": True, "base and plus": False}
    scores = {name: {count: report.pass_at(count, base=base) for count in ks} for name, base in rows.items()}
    if as_json:
        console().print_json(data={"schema": 1, "whole": whole, **_document(report, scores)})
    else:
        _show(report, scores, ks, partial=partial)
    raise typer.Exit(0 if whole else 1)


_Scores = dict[str, dict[int, float | None]]
"""pass@k by the name of the inputs and k; None where no task has enough samples."""


def _problems(
    suite: str | None, file: Path | None, data: DataStore
) -> tuple[Sequence[FunctionProblem], Literal["base", "all"]]:
    if (suite is None) == (file is None):
        raise UserError(
            f"expected exactly one of --suite and --problems, got {'both' if suite else 'neither'}"
        )
    if file is not None:
        return problem_file(file), "all"
    (entry,) = read_catalogue().select([suite or ""])
    built = entry.build(data)
    if not isinstance(built, Programs):
        raise UserError(
            f"the tasks of {entry.id!r} are no functions to write; grade takes loop and evolved suites"
        )
    return built.functions(), built.inputs


def _show(report: GradeReport, scores: _Scores, ks: Sequence[int], *, partial: bool) -> None:
    screen = console()
    outcomes = table("outcome", "samples", right=["samples"])
    for outcome, count in sorted(report.outcomes().items(), key=lambda pair: (-pair[1], pair[0])):
        outcomes.add_row(outcome, str(count))
    if outcomes.row_count:
        screen.print(outcomes)
    columns = ("tasks", *(f"pass@{k}" for k in ks))
    shown = table("tests", *columns, right=columns)
    for name, values in scores.items():
        cells = ["–" if value is None else f"{value:.4f}" for value in values.values()]
        shown.add_row(name, f"{len(report.samples())} of {len(report.tasks)}", *cells)
    screen.print(shown)
    for line in _notes(report, ks, partial=partial):
        screen.print_message(line)


def _notes(report: GradeReport, ks: Sequence[int], *, partial: bool) -> Iterator[str]:
    yield f"graded at sandbox level {report.level}"
    if report.agreement.compared:
        yield f"the samples' own verdicts: {report.agreement}"
    counts = [len(passed) for passed in report.samples().values()]
    for k in ks:
        if fewer := sum(count < k for count in counts):
            yield f"no pass@{k}: {fewer} of {len(counts)} tasks have fewer than {k} samples"
    if missing := report.missing:
        accepted = ", as --partial accepts" if partial else ""
        listed = ", ".join(first_of(missing, _SHOWN))
        yield f"{len(missing)} of {len(report.tasks)} tasks have no sample{accepted}: {listed}"
    if unknown := report.unknown:
        amount = f"{counted(unknown.total(), 'sample')} of {counted(len(unknown), 'task')}"
        yield f"{amount} that no problem has: {', '.join(first_of(list(unknown), _SHOWN))}"
    refused = list(report.refused.values())
    for sentence, noun, lines in (
        ("{} cannot be read:", "line", report.broken),
        ("refused, because they cannot grade: {}:", "problem", refused),
        ("{} could not be graded; the next call tries again:", "sample", report.open),
    ):
        if lines:
            yield sentence.format(counted(len(lines), noun))
            yield from (f"  {line}" for line in first_of(lines, _SHOWN))


def _document(report: GradeReport, scores: _Scores) -> dict[str, Any]:
    return {
        "tasks": len(report.tasks),
        "tasks_with_samples": len(report.samples()),
        "samples": len(report.lines),
        "outcomes": dict(sorted(report.outcomes().items())),
        "pass_at_k": scores,
        "unknown": dict(report.unknown),
        "missing": report.missing,
        "broken": report.broken,
        "refused": report.refused,
        "open": report.open,
        "their_verdicts": {
            "compared": report.agreement.compared,
            "equal": report.agreement.equal,
            "differing": report.agreement.differing,
        },
        "sandbox_level": report.level,
    }
