"""Outputs too long to be decoded: as objects, the 1 GB of Mbpp/255 would be twenty."""

from pathlib import Path

import pytest

from triathlon_runner.datasets import Problem
from triathlon_runner.grading import ProgramGrader, _program_grader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import _worker, decode, open_sandbox

LONG = Problem(
    task_id="test/long",
    entry_point="f",
    prompt="def f(n):\n",
    reference="def f(n):\n    return [str(i) for i in range(n)]\n",
    inputs=("(3,)", "(9999,)", "(4,)"),
)


@pytest.fixture(autouse=True)
def short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is longer than a few of these values is never decoded; doing so anyway is an error."""
    monkeypatch.setattr(_program_grader, "MAX_DECODED_BYTES", 1000)

    def decode_short(data: bytes) -> object:
        assert len(data) < 1000 or b"9998" not in data, "a long output was decoded"
        return decode(data)

    monkeypatch.setattr("triathlon_runner.grading._answer_keys.decode", decode_short)


@pytest.mark.parametrize(
    ("body", "outcome", "passed"),
    [
        ("return [str(i) for i in range(n)]", Outcome.PASSED, 3),
        ("return [str(i) for i in range(n)][:: -1 if n > 9 else 1]", Outcome.FAILED, 1),
        ("return [str(i) for i in range(n)] if n < 9 else []", Outcome.FAILED, 1),
        ("return [str(i) for i in range(n)] if n < 9 else 1 / 0", Outcome.CRASHED, 1),
        ("return [str(i) for i in range(3 * n if n == 4 else n)]", Outcome.FAILED, 2),
        ("return [str(i) for i in range(3000 * n if n == 3 else n)]", Outcome.FAILED, 0),
        ("import os; return [str(i) for i in range(n)] if n < 9 else os._exit(1)", Outcome.CRASHED, 1),
        ("while n > 9: pass\n    return [str(i) for i in range(n)]", Outcome.TIMED_OUT, 1),
    ],
)
async def test_long_outputs_are_judged_unread(body: str, outcome: Outcome, passed: int) -> None:
    """The same bytes pass, others fail, and the failing case says how long they were."""
    async with open_sandbox(jobs=1) as sandbox:
        grader = ProgramGrader(sandbox, min_cpu_seconds=1)
        verdict = await grader.grade(f"def f(n):\n    {body}\n", LONG)
    assert (verdict.outcome, verdict.passed) == (outcome, passed), verdict
    if passed == 1:
        assert verdict.failing is not None
        assert verdict.failing.expected.endswith("bytes")


@pytest.mark.parametrize(
    ("body", "outcome", "passed"),
    [
        ("return [str(i) for i in range(n)]", Outcome.PASSED, 3),
        ("return [str(i) for i in range(n)][:: -1 if n > 9 else 1]", Outcome.FAILED, 1),
        ("return [str(i) for i in range(n)] if n < 9 else []", Outcome.FAILED, 1),
        ("return [str(i) for i in range(3000 * n if n == 3 else n)]", Outcome.FAILED, 0),
        ("if n > 9: raise ValueError('x' * 99)\n    return [str(i) for i in range(n)]", Outcome.CRASHED, 1),
    ],
)
async def test_of_large_outputs_the_hash_is_kept(
    body: str, outcome: Outcome, passed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They fill neither the memory nor the key's file, and the same verdicts come of it."""
    monkeypatch.setattr(_worker, "HASHED_BYTES", 1000)
    for _ in range(2):  # the key is made, then read
        async with open_sandbox(jobs=1) as sandbox:
            verdict = await ProgramGrader(sandbox, tmp_path).grade(f"def f(n):\n    {body}\n", LONG)
        assert (verdict.outcome, verdict.passed) == (outcome, passed), verdict
    (key,) = tmp_path.iterdir()
    assert key.stat().st_size < 2000
