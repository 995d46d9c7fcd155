"""Answer keys in memory: those of all suites together are larger than a runner may be."""

from pathlib import Path

from triathlon_runner.datasets import Problem
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.sandbox import open_sandbox

LARGE = Problem(
    task_id="test/large",
    entry_point="f",
    prompt="",
    reference="def f(n):\n    return str(n) * 1_000_000\n",
    inputs=tuple(f"({n},)" for n in range(10, 22)),
)
"""Whose expected outputs have 24 MB."""
SMALL = Problem("test/small", "f", "", "def f(n):\n    return n\n", ("(1,)",))


def resident(folder: Path) -> int:
    """Bytes in memory of the files in a folder that this process has mapped."""
    total, counts = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, rest = line.partition(" ")
        if not name.endswith(":"):
            counts = str(folder) in line
        elif name == "Rss:" and counts:
            total += 1024 * int(rest.split()[0])
    return total


async def test_of_a_large_key_little_stays_in_memory(tmp_path: Path) -> None:
    """After a program was graded on all of its outputs, less than a quarter of them is resident."""
    async with open_sandbox(jobs=1) as sandbox:
        grader = ProgramGrader(sandbox, tmp_path)
        assert (await grader.grade(LARGE.reference, LARGE)).passed == 12
        (key,) = tmp_path.iterdir()
        assert key.stat().st_size > 20_000_000
        assert resident(tmp_path) < 6_000_000


async def test_a_small_key_holds_no_file_open(tmp_path: Path) -> None:
    """A process may have 1,024 open files, and the suites have more problems."""
    async with open_sandbox(jobs=1) as sandbox:
        grader = ProgramGrader(sandbox, tmp_path)
        assert (await grader.grade(SMALL.reference, SMALL)).passed == 1
        opened = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        assert not [path for path in opened if path.startswith(str(tmp_path))]
