"""The other commands in a terminal of 80 × 24: they end as they should and leave it in order."""

import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from support.site import json_lines, write_lines
from support.terminal_place import Place, assert_in_order
from triathlon_runner import models_yaml

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ("verify", 0, "good-model-instruct evolved/core-seeds: 2/2 units, follows"),
        ("build", 0, "files for 1 model in "),
        ("build --results cache --out first", 0, "there are no results yet"),
        ("results list --no-check", 0, "good-model-instruct evolved/core-seeds 2 0"),
        ("scores", 0, "good-model-instruct"),
        ("doctor", 0, "model broken-model: ready"),
        ("grade samples.jsonl --suite evolved/core-seeds --partial", 0, "pass@1"),
        ("submit check results/runs/good-model-instruct", 1, "usage.output_tokens: expected"),
        ("run --models broken-model --suites evolved/core-seeds --dry-run", 0, "set `speed`"),
    ],
)
def test_what_is_printed_fits_the_window(measured: Place, arguments: str, code: int, said: str) -> None:
    """Tables continue long cells in the next line, sentences are broken between words."""
    stored = measured.root / "results/runs/good-model-instruct/evolved/core-seeds.jsonl"
    samples = [{"task_id": unit["task_id"], "solution": unit["program"]} for unit in json_lines(stored)]
    write_lines(measured.root / "samples.jsonl", samples)
    terminal = measured.see(*arguments.split(), code=code)
    assert_in_order(terminal)
    assert said in " ".join(terminal.text.split())


def test_all_of_a_model(measured: Place) -> None:
    """`models ID` shows what its row says, not only what the table has room for."""
    row = "{id: priced, organization: A Lab, open_weights: true, price: {input: 1, output: 4},"
    row += " api: {base_url: 'http://127.0.0.1:1/v1', model: served-name}}"
    (measured.root / "more.yaml").write_text(f"models:\n  - {row}\n")
    said = " ".join(measured.see("models", "priced", "--models-file", "more.yaml").text.split())
    for fact in ("organization: A Lab", "open_weights: true", "input: 1", "served-name", "here: ready"):
        assert fact in said


def test_results_list_explains_below_the_table(measured: Place) -> None:
    """A damaged file takes one line of the table; its reason stands whole below it, once."""
    folder = measured.root / "damaged/runs/good-model-instruct/evolved"
    shutil.copytree(measured.root / "results/runs/good-model-instruct/evolved", folder)
    with (folder / "core-seeds.jsonl").open("a") as lines:
        lines.write("nonsense\n")
    terminal = measured.see("results", "list", "--results", "damaged")
    assert_in_order(terminal)
    row = r"^good-model-instruct +evolved/core-seeds +2 +0 +unreadable$"
    assert re.search(row, terminal.text, re.MULTILINE), terminal.text
    assert (
        " ".join(terminal.text.split()).count("line 3: expected a JSON object, got 'nonsense'; delete") == 1
    )


def test_models_and_suites(measured: Place) -> None:
    """At 80 columns each model takes one line, and no suite more than four."""
    terminal = measured.see("models", "--models-file", str(ROOT / "models.yaml"))
    assert_in_order(terminal)
    ids = [row.id for row in models_yaml.load(ROOT / "models.yaml").models]
    assert [line.split()[0] for line in terminal.text.splitlines()[-len(ids) :]] == ids
    suites = measured.see("suites").text.split("\n\n")[0].splitlines()
    begins = [number for number, line in enumerate(suites) if line[:1].strip()]
    assert len(begins) > 10 and max(b - a for a, b in pairwise(begins)) <= 4
