"""Ctrl-C before a command is done, except where a run or a gate asks models."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

TRIATHLON = str(Path(sys.executable).with_name("triathlon"))


@pytest.mark.parametrize(("module", "command"), [("typer", "run"), ("plotly", "build")])
def test_an_interrupt(tmp_path: Path, module: str, command: str) -> None:
    """Before typer runs the command, and within it: one line, no traceback, and a shell's code for it."""
    (tmp_path / f"{module}.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    (tmp_path / "models.yaml").write_text("models: []\n")
    done = subprocess.run(
        [TRIATHLON, command], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    expected = (130, "", "interrupted; no stored result is lost\n")
    assert (done.returncode, done.stdout, done.stderr) == expected


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
