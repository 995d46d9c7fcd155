"""`triathlon gate` in a terminal of 80 × 24: progress while it asks, and a report that fits."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.terminal import CTRL_C, Terminal
from support.terminal_place import Place, assert_in_order

pytestmark = pytest.mark.slow

MODELS = """
models:
  - {{id: full-weights, name: Full, api: {{base_url: "{url}", model: good}}, price: {{input: 1, output: 2}}}}
  - {{id: int4-weights, name: Int4, api: {{base_url: "{url}", model: worse}}, price: {{input: 1, output: 2}}}}
"""
GATE = ("gate", "--baseline", "full-weights", "--candidate", "int4-weights", "--suites", "evolved/core-seeds")


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Place]:
    script = "support.server_scripts:reference_unless_worse"
    with model_server_process(script, "--latency", "0.3", "--slots", "2") as url:
        yield Place(tmp_path, url, MODELS)


def asked(terminal: Terminal) -> bool:
    return re.search(r"^int4-weights +[1-9]\d*/80 ", terminal.screen, re.MULTILINE) is not None


def test_progress_ctrl_c_and_report(gate: Place) -> None:
    """A row for each model while it asks; Ctrl-C finishes what is in flight, and the report fits, with 3."""
    with gate.open(*GATE) as terminal:
        terminal.wait_for("time left")
        terminal.wait_for(lambda: asked(terminal))
        assert re.search(r"^full-weights +\d+/80 ", terminal.screen, re.MULTILINE)
        terminal.press(CTRL_C)
        assert terminal.finish() == 3, terminal.text
    assert_in_order(terminal)
    text = terminal.text
    assert re.search(r"^int4-weights against full-weights: UNDECIDED ", text, re.MULTILINE)
    assert re.search(r"^difference [-+]?\d\.\d+, interval -\d\.\d+ to [-+]?\d\.\d+ ", text, re.MULTILINE)
    assert "stopped: Ctrl-C" in " ".join(text.split())
