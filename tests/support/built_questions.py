"""Builds the questions of a few small programs and writes them: `python -m support.built_questions FILE`."""

import asyncio
import sys
from pathlib import Path

from support.case_files import sections
from triathlon_runner.datasets import ClassProblem, Problem
from triathlon_runner.runtime import write_questions
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._programs import class_program, function_program
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import DataSetInfo

_TEXTS = {name: f"{text}\n" for name, text in sections(Path(__file__).with_suffix(".txt")).items()}
WORDS = Problem(
    task_id="t/words",
    entry_point="words",
    prompt="",
    reference=_TEXTS["words"],
    inputs=("('pear fig apple kiwi plum pear',)", "('',)", "('a b c d e f g a',)"),
    level=2,
)
STOCK = ClassProblem(
    task_id="t/stock",
    class_name="Stock",
    reference=_TEXTS["stock"],
    test=_TEXTS["test of the stock"],
    level=3,
)


def source(cache: Path | None = None) -> QuestionSource:
    """Two programs: sets of text, chance, a class with tests."""
    return QuestionSource(
        DataSetInfo("t", "1", "0" * 64), lambda: [function_program(WORDS), class_program(STOCK)], cache
    )


async def build(path: Path) -> None:
    """Writes the questions of both."""
    async with open_sandbox() as sandbox:
        write_questions(await source().build(sandbox), path)


if __name__ == "__main__":
    asyncio.run(build(Path(sys.argv[1])))
