"""The translation loop through the real runner: our own problems, a loopback server, five interpreters."""

import re
from pathlib import Path

import pytest

import core_checks
from support.asl import Interval, asl
from support.loop_run import LoopRun
from support.model_server import ModelServer
from support.server_replies import Asked
from support.translations import target_of
from triathlon_runner import translation
from triathlon_runner.datasets import Problem, core
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language

TRANSLATED = {
    seed.task_id: core_checks.detail(seed.task_id).translations
    for seed in core.problems("seeds")
    if core_checks.detail(seed.task_id).translations
}
"""Our problems that come with a program in every language."""
SEEDS = {seed.entry_point: seed for seed in core.problems("seeds")}


def seed_in(text: str) -> Problem:
    """The seed that a question is about: the last that it names; other problems' names can be variables."""
    return SEEDS[[name for name in re.findall(r"\w+", text) if name in SEEDS][-1]]


def polyglot(asked: Asked) -> str:
    """A model that knows these problems in every language."""
    problem = seed_in(asked.prompt)
    language = target_of(asked.prompt)
    programs = {**TRANSLATED[problem.task_id], "python": problem.reference}
    return f"Here it is:\n\n```{language.value}\n{programs[language.value]}\n```"


async def translate(root: Path, tasks: set[str], say: object = polyglot) -> LoopRun:
    async with ModelServer(say) as server:  # type: ignore[arg-type]  # a script
        run = LoopRun(root, server.base_url, suite="translation/core", only=tasks)
        assert (await run()).exit_code == 0
    return run


async def test_a_polyglot_gets_through_the_chain(tmp_path: Path) -> None:
    """Five steps, each executed in its language on the same values, and ASL 5."""
    tasks = set(sorted(TRANSLATED)[:2])
    run = await translate(tmp_path, tasks)
    records = run.records()
    assert {record.task_id for record in records} == tasks
    for record in records:
        assert (record.sustained_loops, record.outcome) == (5, Outcome.PASSED), record.loops[-1].verdict
        assert [step.language for step in record.loops] == [one.value for one in translation.CHAIN[1:]]
        assert all(step.verdict and step.verdict.passed == step.verdict.total > 1 for step in record.loops)
    assert asl(records) == Interval(5.0, 5.0)


async def test_a_translation_that_breaks_says_where(tmp_path: Path) -> None:
    """What JavaScript got wrong stands in the record: the input, what was expected and what came."""
    (task,) = sorted(TRANSLATED)[:1]

    def breaks(asked: Asked) -> str:
        if target_of(asked.prompt) is Language.JAVASCRIPT:
            name = seed_in(asked.prompt).entry_point
            return f"```javascript\nfunction {name}() {{ return 'nonsense'; }}\n```"
        return polyglot(asked)

    (record,) = (await translate(tmp_path, {task}, breaks)).records()
    assert (record.sustained_loops, record.outcome, record.similarity) == (2, Outcome.FAILED, 1.0)
    last = record.loops[-1]
    assert last.verdict is not None
    assert last.verdict.failing is not None
    assert last.verdict.failing.got == "'nonsense'"
    assert last.prompt == record.loops[-2].program


@pytest.mark.slow
async def test_every_translated_problem_gets_through_the_chain(tmp_path: Path) -> None:
    """All of our problems that come in every language are tasks, and their programs pass all five steps."""
    run = await translate(tmp_path, set(TRANSLATED))
    ends = {record.task_id: record.sustained_loops for record in run.records()}
    assert ends == dict.fromkeys(TRANSLATED, 5)
