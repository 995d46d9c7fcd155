"""What is refused where the kernel lacks a layer; how much memory is left."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from triathlon_runner.errors import UserError
from triathlon_runner.sandbox import SandboxError, _machine, open_sandbox
from triathlon_runner.sandbox._inside import system

WITHOUT_LANDLOCK = """
    import sys, tempfile
    from pathlib import Path
    from triathlon_runner.sandbox._inside import confine, system
    from triathlon_runner.languages import Language
    from triathlon_runner.sandbox._worker import server_settings

    system.landlock_version = lambda: 0
    with tempfile.TemporaryDirectory() as directory:
        settings = server_settings(sys.argv[1], Language.PYTHON, frozenset(), Path(directory))
        try:
            confine.Confinement(settings)
        except OSError as error:
            print("refused:", error)
        else:
            print("prepared")
"""


@pytest.mark.parametrize(("level", "expected"), [("lite", "refused:"), ("namespaces", "prepared")])
def test_lite_is_refused_where_landlock_is_missing(level: str, expected: str) -> None:
    """Without namespaces nothing but Landlock hides the machine's files: no Landlock, no `lite`.

    The file tree of `namespaces` shows only what may be read, with or without it.
    """
    program = textwrap.dedent(WITHOUT_LANDLOCK)
    done = subprocess.run([sys.executable, "-c", program, level], capture_output=True, text=True, check=False)
    if level == "namespaces" and "Operation not permitted" in done.stdout:
        pytest.skip(f"this machine refuses namespaces: {done.stdout}")
    assert done.stdout.startswith(expected), done.stdout + done.stderr
    assert ("Landlock keeps files out of reach" in done.stdout) == (level == "lite")


async def test_an_unknown_level_is_a_users_mistake() -> None:
    """There is no level `none`."""
    with pytest.raises(UserError, match="no isolation level 'none'"):
        async with open_sandbox("none"):
            pass


async def test_where_no_level_works_nothing_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that refuses all levels is told what to enable; no weaker level takes their directory."""
    monkeypatch.setattr("triathlon_runner.sandbox._worker.BOOT", system.__file__)  # starts, and says nothing
    with pytest.raises(SandboxError, match=r"no isolation level works .*namespaces: .*lite: .*Enable"):
        async with open_sandbox():
            pass
    with pytest.raises(SandboxError, match=r"^this isolation level does not work here \(lite: .*Enable"):
        async with open_sandbox("lite"):  # of the others nothing is known
            pass


@pytest.mark.parametrize(
    ("groups", "files", "left"),
    [
        ("0::/\n", {"memory.max": "max"}, 8 << 30),
        (
            "0::/own\n",
            {
                "own/memory.max": "1000",
                "own/memory.current": "700",
                "own/memory.stat": "anon 500\ninactive_file 200\n",
            },
            500,
        ),
        (
            "4:cpu,memory:/\n0::/\n",
            {
                "memory/memory.limit_in_bytes": "1000",
                "memory/memory.usage_in_bytes": "900",
                "memory/memory.stat": "total_inactive_file 0\n",
            },
            100,
        ),
    ],
)
def test_memory_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: str, files: dict[str, str], left: int
) -> None:
    """The least of what the machine and the control groups (of both versions) have; cache counts as left."""
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 8388608 kB\n")
    (tmp_path / "cgroup").write_text(groups)
    for name, text in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(text)
    monkeypatch.setattr(_machine, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(_machine, "_OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(_machine, "_GROUPS", tmp_path / "groups")
    assert _machine.available_bytes() == left
