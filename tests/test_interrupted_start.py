"""Ctrl-C before a command is done, except where a run or a gate asks models."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.terminal import CTRL_C, Terminal

TRIATHLON = str(Path(sys.executable).with_name("triathlon"))


@pytest.mark.parametrize("after", [0.0, 0.2])
@pytest.mark.parametrize(("command", "code"), [("run", 1), ("gate", 3), ("verify", 130), ("build", 130)])
def test_an_interrupt_while_it_starts(tmp_path: Path, after: float, command: str, code: int) -> None:
    """From the first line on, whatever is being imported: one line says it, and no traceback."""
    with subprocess.Popen(
        [TRIATHLON, command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        assert "starting" in process.stdout.readline()
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert "Traceback" not in output
    assert process.returncode in {code, 2}, output  # 2: it had come to find that something is missing
    if process.returncode == code:
        assert output.startswith(f"triathlon {command}: interrupted; ") and output.count("\n") == 1


INTERRUPTED_CLASS = """
import os, signal

class Attribute:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(10): pass

class Owner:
    attribute = Attribute()
"""


@pytest.mark.parametrize(("module", "command", "code"), [("typer", "run", 1), ("plotly", "build", 130)])
def test_an_interrupt_of_a_class_that_is_made(tmp_path: Path, module: str, command: str, code: int) -> None:
    """Python raises a RuntimeError in its place, which Ctrl-C has caused."""
    (tmp_path / f"{module}.py").write_text(INTERRUPTED_CLASS)
    (tmp_path / "models.yaml").write_text("models: []\n")
    done = subprocess.run(
        [TRIATHLON, command], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1].startswith(f"triathlon {command}: interrupted; "), done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


GATE = ("gate", "--baseline", "a", "--candidate", "b", "--models-file")
GRADE = ("grade", "samples.jsonl", "--problems")


@pytest.mark.parametrize(
    ("arguments", "code", "kept"),
    [
        (("run", "--models-file"), 1, "what was finished is kept, and the same command goes on from there"),
        (GATE, 3, "undecided; what was finished is kept"),
        (("models", "--models-file"), 130, "no stored result is lost"),
        (("scores", "--models-file"), 130, "no stored result is lost"),
        (("build", "--models-file"), 130, "the site stays as it was"),
        (GRADE, 130, "verdicts are kept in the cache, and the same command goes on from there"),
    ],
)
def test_an_interrupt_at_work(tmp_path: Path, arguments: tuple[str, ...], code: int, kept: str) -> None:
    """A line says what is kept; the code is 130 or the command's own. The file that is read never ends."""
    endless = tmp_path / "endless.yaml"
    os.mkfifo(endless)
    command = [TRIATHLON, *arguments, str(endless)]
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process,
        _writer(endless),
    ):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert said.splitlines()[-1].startswith(f"triathlon {arguments[0]}: interrupted; {kept}")
    assert "Traceback" not in said


def test_an_interrupt_in_a_narrow_terminal(tmp_path: Path) -> None:
    """The line is broken between words, behind the `^C` that the terminal prints in front of it."""
    models = tmp_path / "models.yaml"
    os.mkfifo(models)
    command = [TRIATHLON, "run", "--models-file", str(models)]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    with Terminal(command, columns=39, folder=tmp_path, environment=environment) as terminal, _writer(models):
        terminal.press(CTRL_C)
        assert terminal.finish() == 1, terminal.text
    begins = terminal.text.index("^C")
    assert terminal.text[begins:].splitlines() == [
        "^Ctriathlon run: interrupted; what was",
        "finished is kept, and the same",
        "command goes on from there",
    ]


@contextmanager
def _writer(fifo: Path) -> Iterator[None]:
    """Opens a pipe once its reader has, and closes it at the end."""
    deadline = time.monotonic() + 60
    while True:
        try:
            descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # nobody reads yet
            assert time.monotonic() < deadline, "the file was never opened"
            time.sleep(0.02)
    try:
        time.sleep(0.2)  # the reader has opened it and waits for the first byte
        yield
    finally:
        os.close(descriptor)


WORKERS = """
import os
import time
from triathlon_site.workers import run_all
try:
    run_all([lambda: (os.write(1, b"works\\n"), time.sleep(60))] * 4, 2)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_builds_processes_end_without_a_word() -> None:
    """A terminal's Ctrl-C reaches them, too: they leave no traceback, and nobody waits for them."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKERS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "works\n" == process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        output, said = process.communicate(timeout=30)
    assert (output, said) == ("interrupted\n", "")
