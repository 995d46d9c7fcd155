"""Small groups of commands: `triathlon cache`, `triathlon questions`."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from triathlon_runner.cache import cache_folder
from triathlon_runner.catalogue import read_catalogue
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import data_store, with_grader
from triathlon_runner.datasets.user import UserDataSet
from triathlon_runner.errors import UserError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import ReplyCache
from triathlon_runner.models_yaml import check_names
from triathlon_runner.runtime import DATASETS, QuestionFile, question_source, write_questions
from triathlon_runner.schedule import check_references
from triathlon_runner.terminal import console, counted

_BUILD = "triathlon questions build --dataset humaneval --out questions.json"
cache_app = cli.group_of_commands("cache", "The cache of replies.", "triathlon cache info")
questions_app = cli.group_of_commands("questions", "Questions about what programs do while they run.", _BUILD)


@cli.command("triathlon cache info", group=cache_app)
def info() -> None:
    """Where the cache lies, its size, and replies by model."""
    with ReplyCache(cache_folder() / "replies.sqlite") as replies:
        by_model, size = replies.replies_by_model(), replies.size_bytes
    screen, amount = console(), counted(sum(by_model.values()), "reply")
    screen.print(f"{replies.path}: {amount}, {size / 1e6:.1f} MB", soft_wrap=True)
    for model, count in by_model.items():
        screen.print(f"{model:40} {count}")


@cli.command(
    "triathlon cache prune --max-megabytes 500", "triathlon cache prune --model my-model", group=cache_app
)
def prune(
    max_megabytes: Annotated[float | None, Option(min=0, help="Oldest first, down to this size.")] = None,
    model: Annotated[str | None, Option(help="Those of this model.")] = None,
) -> None:
    """Removes replies; results stay as they are, and what is asked again is asked anew."""
    if (max_megabytes is None) == (model is None):
        got = "neither" if model is None else "both"
        raise UserError(f"expected --max-megabytes (of any model) or --model, got {got}")
    with ReplyCache(cache_folder() / "replies.sqlite") as replies:
        if model is not None:
            known = list(replies.replies_by_model())
            check_names([model], known, what="model", command="triathlon cache info")
        max_bytes = None if max_megabytes is None else int(min(max_megabytes * 1e6, sys.maxsize))
        removed = replies.prune(max_bytes=max_bytes, model=model)
    console().print(f"{counted(removed, 'reply')} removed")


@cli.command(_BUILD, group=questions_app)
def build(
    dataset: Annotated[str, Option(help=f"{', '.join(DATASETS)}, or the id of one in suites.yaml.")],
    out: Annotated[Path, Option(help="The question file to write (JSON).")],
    data: cli.Data = None,
) -> None:
    """Traces a data set's references, writes its questions, and says what was left out and why."""
    chosen, store = _data_set(dataset), data_store(data)

    async def build_all(grader: Grader) -> QuestionFile:
        if isinstance(chosen, UserDataSet):
            await check_references(chosen.read(), grader, store.cache / "references")
        return await question_source(chosen, store).build(grader.sandbox)

    question_file = with_grader(build_all)
    write_questions(question_file, out)
    report, screen = question_file.report, console()
    screen.print_message(
        f"{counted(report.questions, 'question')} about {counted(report.inputs, 'input')} of"
        f" {counted(report.programs, 'program')}: {out}"
    )
    for noun, left_out in (("statement", report.left_out_statements), ("input", report.left_out_inputs)):
        for rule, count in sorted(left_out.items(), key=lambda pair: -pair[1]):
            screen.print_message(f"left out: {counted(count, noun)}: {rule}")
    for program, reason in report.left_out_programs.items():
        screen.print_message(f"left out: {program}: {reason}")


def _data_set(name: str) -> str | UserDataSet:
    """Returns the name of a built-in data set, or the one of suites.yaml, which must not be private."""
    user_data = {data.id: data for data in read_catalogue().user_data}
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
