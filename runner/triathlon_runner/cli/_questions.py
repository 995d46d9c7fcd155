"""`triathlon questions build`: the runtime discipline's questions as a file that anyone can run."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from triathlon_runner.cli._app import examples, group_of_commands
from triathlon_runner.cli._names import Data
from triathlon_runner.cli._options import catalogue_beside, data_store, open_local_grader
from triathlon_runner.datasets import DataStore
from triathlon_runner.datasets.user import UserDataSet
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import check_names
from triathlon_runner.runtime import DATASETS, QuestionFile, question_source, write_questions
from triathlon_runner.schedule import check_references
from triathlon_runner.terminal import console

questions_app = group_of_commands(
    "questions",
    "Questions about what programs do while they run.",
    "triathlon questions build --dataset humaneval --out questions.json",
)


@questions_app.command(epilog=examples("triathlon questions build --dataset humaneval --out questions.json"))
def build(
    dataset: Annotated[
        str, typer.Option(help="One of: " + ", ".join(DATASETS) + "; or the id of one in suites.yaml.")
    ],
    out: Annotated[Path, typer.Option(help="The question file to write (JSON).")],
    data: Data = None,
) -> None:
    """Traces a data set's references, writes its questions, and says what was left out and why."""
    question_file = asyncio.run(_build(_data_set(dataset), data_store(data)))
    write_questions(question_file, out)
    report, screen = question_file.report, console()
    screen.print_message(
        f"{report.questions} questions about {report.inputs} inputs of {report.programs} programs: {out}"
    )
    for noun, left_out in (("statements", report.left_out_statements), ("inputs", report.left_out_inputs)):
        for rule, count in sorted(left_out.items(), key=lambda pair: -pair[1]):
            screen.print_message(f"left out: {count} {noun}: {rule}")
    for program, reason in report.left_out_programs.items():
        screen.print_message(f"left out: {program}: {reason}")


def _data_set(name: str) -> str | UserDataSet:
    """Returns the data set of this name: the name itself for a built-in one, else that of suites.yaml.

    Raises:
        UserError: there is no such data set, or it is private.
    """
    user_data = {data.id: data for data in catalogue_beside().user_data}
    check_names([name], [*DATASETS, *user_data], what="data set")
    if name not in user_data:
        return name
    data = user_data[name]
    if data.private:
        raise UserError(
            f"{data.listed_at}: expected a data set whose texts may be handed on, got {name!r} with"
            " `private: true`, and a question file holds its functions; take `private: true` out to write"
            f" one, or ask the questions here: triathlon run --suites runtime/{name}"
        )
    return data


async def _build(dataset: str | UserDataSet, store: DataStore) -> QuestionFile:
    async with open_local_grader() as grader:
        if not isinstance(dataset, str):
            await check_references(dataset.read(), grader, store.cache / "references")
        return await question_source(dataset, store).build(grader.sandbox)
