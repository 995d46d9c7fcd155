"""Ctrl-C while a command starts."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.parametrize("after", [0.0, 0.2])
def test_an_interrupt_while_it_starts_leaves_no_traceback(tmp_path: Path, after: float) -> None:
    """From the first line on, whatever is being imported: one line, and exit code 1."""
    command = [str(Path(sys.executable).with_name("triathlon")), "run", "--models-file", "models.fifo"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        assert "starting" in process.stdout.readline()
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert "Traceback" not in output
    assert process.returncode in {1, 2}, output  # 2: it had come to find that there are no models
