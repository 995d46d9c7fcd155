"""Builds the questions of a few small programs and writes them: `python -m support.built_questions FILE`."""

import asyncio
import sys
from pathlib import Path

from triathlon_runner.datasets import ClassProblem, Problem
from triathlon_runner.runtime import write_questions
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._programs import class_program, function_program
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import DataSetInfo

WORDS = Problem(
    task_id="t/words",
    entry_point="words",
    prompt="",
    reference='''import random


def words(text):
    """Different words, in the order of a set."""
    found = set(text.split())
    longest = max(found, key=lambda word: (len(word), word), default='')
    counts = {word: text.count(word) for word in found}
    if random.random() < 2:
        longest += '!'
    return longest, counts
''',
    inputs=("('pear fig apple kiwi plum pear',)", "('',)", "('a b c d e f g a',)"),
    level=2,
)
STOCK = ClassProblem(
    task_id="t/stock",
    class_name="Stock",
    reference="""class Stock:
    def __init__(self, start=()):
        self.items = dict(start)

    def add(self, name, count=1):
        known = name in self.items
        self.items[name] = self.items.get(name, 0) + count
        return known

    def names(self):
        names = frozenset(self.items)
        return names
""",
    test="""import unittest

class TestAdd(unittest.TestCase):
    def setUp(self):
        self.stock = Stock()

    def test_twice(self):
        self.assertFalse(self.stock.add('nut'))
        self.assertEqual(self.stock.add('nut', 2), True)
        self.assertEqual(self.stock.names(), {'nut'})
""",
    level=3,
)


def source(cache: Path | None = None) -> QuestionSource:
    """Two programs: sets of text, chance, a class with tests."""
    return QuestionSource(
        DataSetInfo("t", "1", "0" * 64), [function_program(WORDS), class_program(STOCK)], cache
    )


async def _build(path: Path) -> None:
    async with open_sandbox() as sandbox:
        write_questions(await source().build(sandbox), path)


if __name__ == "__main__":
    asyncio.run(_build(Path(sys.argv[1])))
