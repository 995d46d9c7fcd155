"""Child processes never outlive us; what they make is made once; what their logs show."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from triathlon_runner.serving import ServingError, _children
from triathlon_runner.serving._children import inherited_variables, run, spawn

# A parent with a child in a session of its own; both write their process ids, ignore SIGTERM and stay.
_STUBBORN = """
trap '' TERM
setsid bash -c 'echo $$ > "$0/child"; exec sleep 600' "$0" &
echo $$ > "$0/parent"
[ "$1" = leave ] || sleep 600
until [ -s "$0/child" ]; do sleep 0.01; done
"""

# A runner that starts the above and waits for its own end.
_RUNNER = """
import asyncio, pathlib, sys
from triathlon_runner.serving import _children
_children._GRACE_SECONDS = 0.2
folder = pathlib.Path(sys.argv[1])
command = ["bash", "-c", sys.argv[2], str(folder), "stay"]
asyncio.run(_children.run(command, folder / "log", "failed"))
"""


def _alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _until(what: str, folder: Path, seconds: float = 20.0) -> list[int]:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        texts = [path.read_text() for name in ("parent", "child") if (path := folder / name).exists()]
        processes = [int(text) for text in texts if text]
        if len(processes) == 2 and all(_alive(process) == (what == "alive") for process in processes):
            return processes
        time.sleep(0.02)
    raise AssertionError(f"not {what} within {seconds} s")


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_children, "_GRACE_SECONDS", 0.2)


@pytest.mark.parametrize("how", ["leave", "stay"])
async def test_an_ended_command_takes_along_what_it_started(tmp_path: Path, how: str) -> None:
    """Also what ignores SIGTERM or moved to another session; at its end, or where its caller is cancelled."""
    task = asyncio.create_task(run(["bash", "-c", _STUBBORN, str(tmp_path), how], tmp_path / "log", "failed"))
    if how == "stay":
        await asyncio.to_thread(_until, "alive", tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        await task
    await asyncio.to_thread(_until, "gone", tmp_path, 2.0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_a_killed_runner(tmp_path: Path, number: signal.Signals) -> None:
    runner = subprocess.Popen(
        [sys.executable, "-c", _RUNNER, str(tmp_path), _STUBBORN], stderr=subprocess.DEVNULL, text=True
    )
    try:
        family = _until("alive", tmp_path)
        runner.send_signal(number)
        runner.wait(20)
        assert _until("gone", tmp_path) == family
    finally:
        runner.kill()
        runner.wait()


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["bash", "-c", "printf out; exit 7"], "failed (exit status 7):\n    out"),
        (["bash", "-c", "echo more; kill -9 $$"], "(exit status 137):\n    more"),
        (["/missing"], "(exit status 127):\n    error: could not start '/missing'"),
    ],
)
async def test_a_command_that_fails(tmp_path: Path, command: list[str], shown: str) -> None:
    """The error has its status, 128 + n where signal n ended it, and the end of its log."""
    with pytest.raises(ServingError) as caught:
        await run(command, tmp_path / "logs" / "log", "failed")
    assert shown in str(caught.value)


@pytest.mark.parametrize(("log", "env"), [("log", {"A=B": ""}), ("log", {"A": "\0"}), ("file/log", {})])
async def test_a_command_that_cannot_be_started(tmp_path: Path, log: str, env: dict[str, str]) -> None:
    """Variables that no program can get and a log without a folder are errors that say so."""
    (tmp_path / "file").touch()
    with pytest.raises(ServingError, match="could not start 'true' with the log"):
        await run(["true"], tmp_path / log, "failed", env=env)


async def test_a_modest_command_with_a_scratch_folder(tmp_path: Path) -> None:
    """It has a lower priority, as a session too where the kernel weighs those; its folder goes with it.

    SIGTERM reaches it, though what waits for its end holds that signal back.
    """
    code = (
        "import os, pathlib, signal, tempfile; print(os.nice(0)); g = pathlib.Path('/proc/self/autogroup');"
        "print(g.read_text().split()[-1] if g.exists() else 'none'); print(tempfile.mkdtemp());"
        "print(signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    child = await spawn([sys.executable, "-c", code], env=inherited_variables(), log=tmp_path / "log", nice=5)
    assert await child.wait() == 0
    nice, of_session, folder, is_blocked = (tmp_path / "log").read_text().split()
    assert is_blocked == "False"
    assert int(nice) == os.nice(0) + 5
    assert of_session in {"5", "none"}
    scratch = Path(folder).parent
    assert scratch.name.startswith("triathlon-child-") and not scratch.exists()


SECRETS = ("OPENAI_API_KEY", "EXAMPLE_TEAM_TOKEN", "NVIDIA_API_KEY", "VLLM_API_KEY", "AWS_PROFILE", "X_TEAM")
SETTINGS = ("HTTPS_PROXY", "LD_LIBRARY_PATH", "CUDA_HOME", "VLLM_CPU_KVCACHE_SPACE", "HF_HOME", "LC_ALL")


def test_only_what_a_child_needs_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short list, whatever keys are called; what only some children need, these alone get."""
    others = (*SECRETS, "HF_TOKEN", "UV_INDEX", "RAY_ADDRESS", "PYTHONPATH", "VIRTUAL_ENV")
    for name in (*SETTINGS, *others):
        monkeypatch.setenv(name, "x")
    plain = inherited_variables()
    assert plain["PATH"] == os.environ["PATH"]
    assert set(SETTINGS) <= plain.keys()
    assert plain.keys().isdisjoint(others)
    of_uv = inherited_variables(*_children.INSTALLER).keys() - plain.keys()
    assert "UV_INDEX" in of_uv and all(name.startswith("UV_") for name in of_uv)
    assert inherited_variables(*_children.HUB).keys() - plain.keys() == {"HF_TOKEN"}


async def test_made_once_with_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two who want a file one makes it; that is reported at its begin, now and again, and at its end."""
    monkeypatch.setattr(_children, "_REPORT_SECONDS", 0.01)
    reported, made = list[str](), list[Path]()
    target = tmp_path / "folder" / "target"

    async def make() -> None:
        while sum("so far" in line for line in reported) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        target.touch()
        made.append(target)

    wanted = (_children.prepare_once(target, make, "converting", reported.append) for _ in range(2))
    await asyncio.gather(*wanted)
    lines = [line for line in reported if "waiting for another run" not in line]
    assert (lines[0], lines[1]) == ("converting (once)", "converting, 0 s so far")
    assert lines[-1].startswith("converting: done in ")
    assert made == [target]
    ended_with = len(reported)
    await asyncio.sleep(0.05)
    assert len(reported) == ended_with


NOISE = "".join(f"frame {number}\n    ^^^^^\n\n" for number in range(40))
LONG = f"WARNING OSError: [Errno 24]\nValueError: the cause\n{NOISE}RuntimeError: see above\n"
TAIL = [*(f"frame {number}" for number in range(26, 40)), "RuntimeError: see above"]


@pytest.mark.parametrize(
    ("text", "since", "shown"),
    [
        (LONG, 0, ["ValueError: the cause", *TAIL]),
        ("Error: of yesterday\ntoday\n", 20, ["today"]),
        ("x" * 70_000, 0, ["x" * 500 + "…"]),
        ("", 0, ["(the log is empty)"]),
        (None, 0, ["(no log was written)"]),
    ],
    ids=["long", "second start", "long line", "empty", "none"],
)
def test_what_is_shown_of_a_log(tmp_path: Path, text: str | None, since: int, shown: list[str]) -> None:
    """Its last lines, before these an error that was named early; nothing of an earlier start."""
    log = tmp_path / "log"
    if text is not None:
        log.write_text(text)
    assert [line.strip() for line in _children.last_lines(log, since).splitlines()] == shown
