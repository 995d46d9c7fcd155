"""Answer keys: made once, read from disk, small in memory; outputs too long to be decoded."""

import asyncio
import re
from pathlib import Path
from typing import IO

import pytest

from triathlon_runner.datasets import Problem
from triathlon_runner.errors import UserError
from triathlon_runner.grading import ProgramGrader, UngradableError, _answer_keys, _program_grader
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Sandbox, _pipes, decode, open_sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

SMALL = Problem("test/small", "f", "", "def f(n):\n    return n / 3\n", ("(1,)", "(2,)"))
TWELVE = tuple(f"({n},)" for n in range(10, 22))
LARGE = Problem("test/large", "f", "", "def f(n):\n    return str(n) * 1_000_000\n", TWELVE)
"""Whose expected outputs have 24 MB."""
RIGHT = "return [str(i) for i in range(n)]"
LONG = Problem("test/long", "f", "", f"def f(n):\n    {RIGHT}\n", ("(3,)", "(9999,)", "(4,)"))


async def test_answer_keys_are_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    """A damaged one is made again; small ones are closed; a cache that takes none is the user's to fix."""
    for damage in (False, True, False):
        assert (await ProgramGrader(sandbox, tmp_path).grade(SMALL.reference, SMALL)).passed == 2
        (key,) = tmp_path.iterdir()
        if damage:
            key.write_bytes(key.read_bytes()[:40])
    opened = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert not [path for path in opened if path.startswith(str(tmp_path))]
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot use the cache .*file.*TRIATHLON_CACHE"):
        await ProgramGrader(sandbox, tmp_path / "file").grade(SMALL.reference, SMALL)


async def test_a_key_is_made_once(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of one problem that are graded at the same time wait for one run of its reference."""
    made: list[str] = []
    write = _answer_keys.write_key

    async def counted(where: Sandbox, problem: Problem, file: IO[bytes]) -> None:
        made.append(problem.task_id)
        await write(where, problem, file)

    monkeypatch.setattr(_answer_keys, "write_key", counted)
    grader = ProgramGrader(sandbox, None)
    verdicts = await asyncio.gather(*(grader.grade(SMALL.reference, SMALL) for _ in range(4)))
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASSED} and made == ["test/small"]


@pytest.mark.parametrize(
    ("returned", "inputs", "why"),
    [
        ("x", (), "the problem has no inputs"),
        ("iter([x])", ("(1,)",), r"on \(1,\) it returned <list_iterator object>"),
        ("x or [int]", ("(1,)", "(0,)"), r"on \(0,\) it returned \[<type object>\]"),
        ("x / 2", ("('a',)", "(None,)"), r"on \('a',\) and every other input it raised TypeError: unsupp"),
    ],
)
async def test_a_failing_reference(
    sandbox: Sandbox, returned: str, inputs: tuple[str, ...], why: str
) -> None:
    broken = Problem("test/broken", "f", "", f"def f(x):\n    return {returned}\n", inputs)
    with pytest.raises(UngradableError, match=why):
        await ProgramGrader(sandbox).grade("def f(x):\n    return x\n", broken)


async def test_of_a_large_key_little_stays_in_memory(sandbox: Sandbox, tmp_path: Path) -> None:
    """After a program was graded on all of its outputs, less than a quarter of them is resident."""
    grader = ProgramGrader(sandbox, tmp_path)
    assert (await grader.grade(LARGE.reference, LARGE)).passed == 12
    (key,) = tmp_path.iterdir()
    mapped = rf"{re.escape(str(tmp_path))}.*\n(?:\w+: .*\n)*?Rss: +(\d+) kB"
    resident = 1024 * sum(map(int, re.findall(mapped, Path("/proc/self/smaps").read_text())))
    assert key.stat().st_size > 20_000_000 and resident < 6_000_000


@pytest.mark.parametrize("is_hashed", [False, True])
@pytest.mark.parametrize(
    ("body", "outcome", "passed"),
    [
        (RIGHT, Outcome.PASSED, 3),
        (f"{RIGHT}[:: -1 if n > 9 else 1]", Outcome.FAILED, 1),
        (f"{RIGHT} if n < 9 else []", Outcome.FAILED, 1),
        (f"{RIGHT} if n < 9 else 1 / 0", Outcome.CRASHED, 1),
        (f"if n > 9: raise ValueError('x' * 99)\n    {RIGHT}", Outcome.CRASHED, 1),
        ("return [str(i) for i in range(3 * n if n == 4 else n)]", Outcome.FAILED, 2),
        ("return [str(i) for i in range(3000 * n if n == 3 else n)]", Outcome.FAILED, 0),
        (f"import os; {RIGHT} if n < 9 else os._exit(1)", Outcome.CRASHED, 1),
        (f"while n > 9: pass\n    {RIGHT}", Outcome.TIMED_OUT, 1),
    ],
)
async def test_long_outputs_are_judged_unread(
    body: str, outcome: Outcome, passed: int, is_hashed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same bytes pass, others fail. Of still longer outputs the hash alone is kept, in the key, too."""

    def decode_short(data: bytes) -> object:
        assert len(data) < 1000 or b"9998" not in data, "a long output was decoded"
        return decode(data)

    monkeypatch.setattr(_program_grader, "MAX_DECODED_BYTES", 1000)
    monkeypatch.setattr(_answer_keys, "decode", decode_short)
    if is_hashed:
        monkeypatch.setattr(_pipes, "HASHED_BYTES", 1000)
    async with open_sandbox(jobs=1) as own:
        for _ in range(2 if is_hashed else 1):  # the key is made, then read
            grader = ProgramGrader(own, tmp_path, min_cpu_seconds=1)
            verdict = await grader.grade(f"def f(n):\n    {body}\n", LONG)
            assert (verdict.outcome, verdict.passed) == (outcome, passed), verdict
    (key,) = tmp_path.iterdir()
    assert (key.stat().st_size < 2000) == is_hashed
    if passed == 1:
        assert verdict.failing is not None and verdict.failing.expected.endswith("bytes")
