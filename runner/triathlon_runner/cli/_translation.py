"""`triathlon translation check`: which tasks a chain of translations can have, and whose references pass."""

import asyncio

from triathlon_runner import translation
from triathlon_runner.cli._app import examples, group_of_commands
from triathlon_runner.cli._names import Data
from triathlon_runner.cli._options import data_store
from triathlon_runner.sandbox import Language, open_sandbox
from triathlon_runner.terminal import console

translation_app = group_of_commands("translation", "The translation loop.", "triathlon translation check")


@translation_app.command(
    epilog=examples("triathlon translation check", "triathlon translation check --data my-data")
)
def check(data: Data = None) -> None:
    """Executes every reference program of MBXP with its language's own tests (minutes).

    Says how many tasks have all five languages, and how many references pass in each.
    Names the chains that have no correct Python program to begin with.
    """
    store = data_store(data)
    tasks, lacking = translation.read_mbxp(store)
    checks = asyncio.run(_check(tasks))
    screen = console()
    for line in translation.report(tasks, checks, lacking):
        screen.print_message(line)


async def _check(tasks: tuple[translation.MbxpTask, ...]) -> list[translation.LanguageCheck]:
    async with open_sandbox() as sandbox:
        return [await translation.check_references(tasks, sandbox, language) for language in Language]
