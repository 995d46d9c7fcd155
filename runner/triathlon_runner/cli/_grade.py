"""`triathlon grade`: judges programs made elsewhere."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from triathlon_runner import catalogue
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._options import Data, cache_folder, console, data_store
from triathlon_runner.datasets import ClassProblem, DataStore, Problem
from triathlon_runner.datasets.official import TestedProblem, problem_file
from triathlon_runner.errors import UserError
from triathlon_runner.grading import GradeOptions, GradeReport, grade_samples
from triathlon_runner.suites import Programs

Inputs = Literal["base", "all"]


@app.command(
    epilog=examples(
        "triathlon grade samples.jsonl --suite evolved/humaneval-plus --out graded.jsonl",
        "triathlon grade samples/ --problems HumanEvalPlus.jsonl.gz",
    )
)
def grade(
    samples: Annotated[Path, typer.Argument(help="A folder `<task>/<n>.py`, or JSON lines.")],
    suite: Annotated[str | None, typer.Option(help="Judge against the problems of this suite.")] = None,
    problems: Annotated[
        Path | None,
        typer.Option(help="Judge against a file in HumanEval, EvalPlus, EvoEval or ClassEval format."),
    ] = None,
    model: Annotated[str, typer.Option(help="Whose programs these are; stands in every line.")] = "",
    out: Annotated[Path | None, typer.Option(help="File that gets one JSON line a sample.")] = None,
    base_only: Annotated[
        bool, typer.Option("--base-only", help="Judge on the data set's base inputs alone.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Programs at once; left out: one a core.")] = None,
    data: Data = None,
) -> None:
    """Judges samples and goes on where an earlier call stopped.

    Exit code 0: all judged; 1: some stay open; 2: something is for you to mend.
    """
    found, inputs = _problems(suite, problems, data_store(data))
    report = asyncio.run(
        grade_samples(
            samples,
            found,
            GradeOptions(
                out=out,
                model=model,
                inputs="base" if base_only else inputs,
                jobs=jobs,
                keys=cache_folder() / "keys",
            ),
        )
    )
    _show(report)
    raise typer.Exit(1 if report.open else 0)


def _problems(
    suite: str | None, file: Path | None, data: DataStore
) -> tuple[Sequence[Problem | TestedProblem | ClassProblem], Inputs]:
    if (suite is None) == (file is None):
        raise UserError(
            f"expected exactly one of --suite and --problems, got {'both' if suite else 'neither'}"
        )
    if file is not None:
        return problem_file(file), "all"
    (entry,) = catalogue.select([suite or ""])
    built = entry.build(data)
    if not isinstance(built, Programs):
        raise UserError(
            f"the tasks of {entry.id!r} are no functions to write; grade takes loop and evolved suites"
        )
    return built.functions(), built.inputs


def _show(report: GradeReport) -> None:
    screen = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("outcome")
    table.add_column("samples", justify="right")
    for outcome, count in sorted(report.outcomes().items(), key=lambda pair: (-pair[1], pair[0])):
        table.add_row(outcome, str(count))
    screen.print(table)
    judged = f"pass@1 {report.pass_at_1():.4f}, judged at sandbox level {report.level}"
    screen.print(f"{judged}; {report.kept} lines kept from an earlier call", highlight=False)
    for reason in report.open:
        screen.print(f"open: {reason}", markup=False, highlight=False, soft_wrap=True)
