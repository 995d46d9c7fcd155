"""A folder in which `triathlon` runs under a terminal, with a good and a broken model."""

import os
import sys
from pathlib import Path
from typing import Any

from support.terminal import Terminal

MODELS = """
models:
  - id: good-model-instruct
    name: Good
    api: {{base_url: "{url}", model: scripted}}
    price: {{input: 1, output: 2}}
  - {{id: broken-model, name: Broken, api: {{base_url: "{url}", model: broken}}}}
"""
SUITES = "evolved/core-seeds,evolved/core-subtle"


class Place:
    """A folder with a models.yaml; commands run in it, each in a terminal of its own."""

    def __init__(self, root: Path, url: str, models: str = MODELS) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        (root / "models.yaml").write_text(models.format(url=url))

    def open(self, *arguments: str, columns: int = 80, rows: int = 24, **environment: Any) -> Terminal:
        left_out = {"TRIATHLON_DATA", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM"}
        settings = {name: value for name, value in os.environ.items() if name not in left_out}
        settings |= {"TRIATHLON_CACHE": str(self.root / "cache"), **environment}
        command = [str(Path(sys.executable).with_name("triathlon")), *arguments]
        return Terminal(command, columns=columns, rows=rows, folder=self.root, environment=settings)

    def see(self, *arguments: str, code: int = 0, **options: Any) -> Terminal:
        """Runs a command to its end, which is to be this exit code."""
        with self.open(*arguments, **options) as terminal:
            found = terminal.finish()
            assert found == code, terminal.text
        return terminal


def assert_in_order(terminal: Terminal) -> None:
    """No traceback and no Markdown, nothing is cut, the panel is erased, and the cursor is shown."""
    assert not any(sign in terminal.text for sign in ("Traceback", "| ", "…", "time left")), terminal.text
    assert terminal.output.rfind(b"\x1b[?25h") >= terminal.output.rfind(b"\x1b[?25l")
