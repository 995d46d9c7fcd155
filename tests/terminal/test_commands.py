"""The other commands in a terminal of 80 × 24: they end as they should and leave it in order."""

import json
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.terminal import Terminal
from support.terminal_place import Place
from triathlon_runner import models_yaml

CORE = ("--suite", "evolved/core-seeds")
SUITES_OF_RUN = ("--suites", "evolved/core-seeds")
ROOT = Path(__file__).parents[2]


def assert_in_order(terminal: Terminal) -> None:
    """No traceback; the cursor is shown; no line is longer than the window by a table's doing."""
    assert "Traceback" not in terminal.text
    assert terminal.output.rfind(b"\x1b[?25h") >= terminal.output.rfind(b"\x1b[?25l")
    assert "…" not in terminal.text, "nothing is cut"


def test_verify(measured: Place) -> None:
    """Each file's verdict, and that of all."""
    terminal = measured.see("verify")
    assert_in_order(terminal)
    assert "good-model-instruct evolved/core-seeds: 2/2 units, follows" in " ".join(terminal.text.split())


def test_submit_check(measured: Place) -> None:
    """Sentences that are broken between words, and no Markdown; the scripted server counts few tokens."""
    terminal = measured.see("submit", "check", "results/runs/good-model-instruct", code=1)
    assert_in_order(terminal)
    assert "\\" not in terminal.text and "| " not in terminal.text
    said = " ".join(terminal.text.split())
    assert "submission of good-model-instruct: cannot be taken yet" in said
    assert "usage.output_tokens: expected" in said
    words = {word.strip(".") for word in terminal.text.split()}
    assert {"evolved/core-seeds", "graded", "again", "engine", "characters", "replies"} <= words


def test_all_of_a_model(measured: Place) -> None:
    """`models ID` shows what its row says, not only what the table has room for."""
    row = "{id: priced, organization: A Lab, open_weights: true, price: {input: 1, output: 4},"
    row += " api: {base_url: 'http://127.0.0.1:1/v1', model: served-name}}"
    (measured.root / "more.yaml").write_text(f"models:\n  - {row}\n")
    said = " ".join(measured.see("models", "priced", "--models-file", "more.yaml").text.split())
    for fact in ("A Lab", "open weights yes", "price input: 1.0, output: 4.0", "asked for as served-name"):
        assert fact in said


def test_build(measured: Place) -> None:
    """How much was written, and where."""
    terminal = measured.see("build")
    assert_in_order(terminal)
    assert re.search(r"files for 1 model in .* _site/index\.html", " ".join(terminal.text.split()))


def test_a_run_without_results_keeps_the_site(measured: Place) -> None:
    """Where every model failed, the site that has results stays, and the command says so; exit code 2."""
    measured.see("build", "--out", "kept")
    before = (measured.root / "kept/index.html").read_bytes()
    failed = ("--results", "failed")
    measured.see("run", "--models", "broken-model", "--suites", "evolved/core-seeds", *failed, code=2)
    terminal = measured.see("build", "--out", "kept", *failed, code=2)
    assert_in_order(terminal)
    assert "stays as it is" in " ".join(terminal.text.split())
    assert (measured.root / "kept/index.html").read_bytes() == before
    first = measured.see("build", "--out", "first", *failed)
    assert "there are no results yet" in first.text


def test_results_list_and_scores(measured: Place) -> None:
    """Tables fit the window: long values go on in the next line."""
    for command in (("results", "list", "--no-check"), ("scores",)):
        terminal = measured.see(*command)
        assert_in_order(terminal)
        assert "good-model-instruct" in terminal.text


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


def test_doctor(measured: Place) -> None:
    """The sandbox level and both models, each in a line; longer findings are broken between words."""
    with measured.open("doctor") as terminal:
        terminal.finish()
    assert_in_order(terminal)
    lines = [line.split() for line in terminal.text.splitlines()]
    assert any(words[-1:] in (["program"], ["that"], ["is"]) for words in lines if words[:1] == ["verdicts"])
    assert "graded" in {words[0] for words in lines if words}, "the rest of the sentence, not of the word"
    assert "fetched when run, or read from --data FOLDER" in " ".join(terminal.text.split())
    assert re.search(r"^sandbox +\w+", terminal.text, re.MULTILINE)
    assert re.search(r"^model +broken-model: ready", terminal.text, re.MULTILINE)


@pytest.mark.parametrize("environment", [{}, {"TERM": "dumb"}])
def test_grade(measured: Place, environment: dict[str, Any]) -> None:
    """Outcomes and pass@1, in a terminal of either kind."""
    lines = measured.root / "results/runs/good-model-instruct/evolved/core-seeds.jsonl"
    records = [json.loads(line) for line in lines.read_text().splitlines()]
    samples = measured.root / "samples.jsonl"
    samples.write_text(
        "".join(
            json.dumps({"task_id": record["task_id"], "solution": record["program"]}) + "\n"
            for record in records
        )
    )
    with measured.open("grade", "samples.jsonl", *CORE, **environment) as terminal:
        terminal.finish()
    assert_in_order(terminal)
    assert "pass@1" in terminal.text


def test_models_and_suites(measured: Place) -> None:
    """At 80 columns each model takes one line, and no suite more than four; one model is shown whole."""
    listed = ("--models-file", str(ROOT / "models.yaml"))
    terminal = measured.see("models", *listed)
    assert_in_order(terminal)
    ids = [row.id for row in models_yaml.load(ROOT / "models.yaml").models]
    assert [line.split()[0] for line in terminal.text.splitlines()[-len(ids) :]] == ids
    one = measured.see("models", ids[0], *listed)
    assert re.search(r"^reached by +vLLM, started here$", one.text, re.MULTILINE)
    suites = measured.see("suites").text.split("\n\n")[0].splitlines()
    begins = [number for number, line in enumerate(suites) if line[:1].strip()]
    assert len(begins) > 10 and max(b - a for a, b in pairwise(begins)) <= 4


def test_a_dry_run(measured: Place) -> None:
    """Where the speed comes from stands in a line of its own, not in a narrow cell."""
    terminal = measured.see("run", "--models", "broken-model", *SUITES_OF_RUN, "--dry-run")
    assert_in_order(terminal)
    assert "speed of broken-model: unknown: set `speed`" in terminal.text
