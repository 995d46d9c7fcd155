"""`triathlon questions build`: the runtime discipline's questions as a file that anyone can run."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._commands import App
from triathlon_runner.cli._options import Data, console, data_store
from triathlon_runner.datasets import DataStore
from triathlon_runner.registry import check_names
from triathlon_runner.runtime import DATASETS, QuestionFile, question_source, write_questions
from triathlon_runner.sandbox import open_sandbox

questions_app = App(
    help="Questions about what programs do while they run.",
    epilog=examples("triathlon questions build --dataset humaneval --out questions.json"),
    no_args_is_help=True,
)
app.add_typer(questions_app, name="questions")


@questions_app.callback()
def questions() -> None:
    """Questions about what programs do while they run."""


@questions_app.command(
    epilog=examples(
        "triathlon questions build --dataset humaneval --out questions.json",
    )
)
def build(
    dataset: Annotated[str, typer.Option(help="One of: " + ", ".join(DATASETS) + ".")],
    out: Annotated[Path, typer.Option(help="The question file to write (JSON).")],
    data: Data = None,
) -> None:
    """Traces a data set's references, writes its questions, and says what was left out and why."""
    check_names([dataset], list(DATASETS), what="data set")
    found = asyncio.run(_build(dataset, data_store(data)))
    write_questions(found, out)
    report, screen = found.report, console()
    screen.print(
        f"{report.questions} questions about {report.inputs} inputs of {report.programs} programs: {out}",
        highlight=False,
        markup=False,
    )
    for what, left_out in (("statements", report.left_out_statements), ("inputs", report.left_out_inputs)):
        for rule, count in sorted(left_out.items(), key=lambda pair: -pair[1]):
            screen.print(f"left out: {count} {what}: {rule}", highlight=False, markup=False)
    for program, reason in report.left_out_programs.items():
        screen.print(f"left out: {program}: {reason}", highlight=False, markup=False)


async def _build(dataset: str, store: DataStore) -> QuestionFile:
    async with open_sandbox() as sandbox:
        return await question_source(dataset, store).build(sandbox)
