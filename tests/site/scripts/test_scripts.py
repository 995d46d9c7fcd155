"""What the scripts of the pages decide: their rules under `node --test`, without a browser."""

import base64
import gzip
import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import playwright
import pytest

from support.choices import LOOP, choices, data_of, scored
from support.site import script_data
from triathlon_runner.unit_pages import unit_anchor
from triathlon_site.evidence import INDEX
from triathlon_site.overall_index import Index
from triathlon_site.pages import Gathered
from triathlon_site.pages.all_models import AllModels
from triathlon_site.pages.choose import drafts

NODES = (Path(playwright.__file__).parent / "driver/node", *map(Path, filter(None, [shutil.which("node")])))
PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))


def chosen_from(models: list[tuple[float, float]]) -> dict[str, Any]:
    """Models of these sizes and scores: the data, and the frontier by size as the page has it."""
    rows = [scored(f"Model {place}", size, score) for place, (size, score) in enumerate(models)]
    places = tuple(row.index for row in rows if row.index)
    (draft,) = drafts(AllModels(tuple(rows), Index(places, np.zeros((10, len(rows))))), None, {})
    (frontier,) = draft.values["questions"]
    return {"choices": data_of(draft), "frontier": [[cell.text for cell in row] for row in frontier.rows]}


@pytest.fixture
def given(rich: Gathered, rich_pages: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Data of built sites, and what Python decided of it."""
    random = np.random.default_rng(0)
    drawn = zip(random.choice([1, 3, 7, 8, 13, 70], 40), random.integers(40, 90, 40) / 10, strict=True)
    index = script_data(rich_pages["data/compare.js"])
    models = [script_data(rich_pages[model["data"]]) for model in index["models"]]
    tasks = {path: text for path, text in rich_pages.items() if re.fullmatch(r"tasks/.+/\d+\.html", path)}
    units = r'<section class="unit" id="([^"]+)"'
    addresses = [f"{path}#{unescape(unit)}" for path in tasks for unit in re.findall(units, tasks[path])]
    pack = rich.files["weak"][0].extracts.read(INDEX).decode().split('"')[1]
    found = {
        "choices": data_of(choices({"small": 0.25, "middle": 0.5})),
        "many": chosen_from(
            [*((float(size), float(score)) for size, score in drawn), (70.0, 9.5), (70.0, 9.5)]
        ),
        "six": chosen_from([(7.0, 5.0)] * 6),
        "four": chosen_from([(7.0, 5.0)] * 4 + [(9.0, 5.0)]),
        "free": {
            name: data_of(choices({"small": 0.0, "middle": 0.0, "costly": dear}))
            for name, dear in (("some", 0.5), ("all", 0.0))
        },
        "compare": {"index": index, "models": models},
        "anchors": {task: unit_anchor(task) for task in (*PRINTABLE, "core/3", "ünï 😀", "f('a')/[x]@2")},
        "tasks": script_data(rich_pages["data/tasks.js"]) | {"addresses": sorted(addresses)},
        "pack": {"text": pack, "content": json.loads(gzip.decompress(base64.b64decode(pack)))},
    }
    monkeypatch.setitem(LOOP, "Middle", (40, 7.0))
    return found | {"bestIsSmall": data_of(choices({}))}


def test_rules_of_the_scripts(given: dict[str, Any], tmp_path: Path) -> None:
    """Every `*.test.js` beside this file, each rule a test of its own."""
    node = next(filter(Path.exists, NODES), None)
    if node is None:
        pytest.skip("no node: install one, or Playwright for Python, which brings its own")
    file = tmp_path / "given.json"
    file.write_text(json.dumps(given))
    tests = sorted(Path(__file__).parent.glob("*.test.js"))
    command = [str(node), "--test", "--test-reporter=spec", *map(str, tests)]
    environment = os.environ | {"TRIATHLON_GIVEN": str(file)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert re.search(r"(?m)^ℹ pass [1-9]", done.stdout), done.stdout
