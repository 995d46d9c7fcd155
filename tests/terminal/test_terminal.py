"""The program that CI runs the main job with: what its reader would see, and how the job ended."""

import subprocess
import sys
from pathlib import Path

PROGRAM = (
    'for i in $(seq 40); do echo "line $i"; done; printf "gone\\r\\033[31mred \\033[0m\\n"; stty size; exit 3'
)


def test_lines_and_exit_code_reach_the_log() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "support.terminal", "--columns", "80", "bash", "-c", PROGRAM],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines() == [*(f"line {number}" for number in range(1, 41)), "red", "24 80"]
