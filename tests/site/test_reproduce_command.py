"""`triathlon reproduce` with a scripted model, a paper at a time; every wait has a limit."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.model_server import model_server_process
from support.official_data import official_store
from support.site import csv_rows, json_lines
from triathlon_runner.records import known_protocols

pytestmark = pytest.mark.official
ROOT = Path(__file__).parents[2]
SECONDS = 600
ONE = ("--models", "gpt-4-turbo")
COMMAND = """
from triathlon_runner.datasets import official
from triathlon_runner.runtime import _programs
from triathlon_site.__main__ import main
vars(_programs)["dreval"] = lambda store: official.dreval(store)[:2]
main()
"""
"""`triathlon` with two of DREval's programs, as building the questions of all takes minutes."""
NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    official_store()
    with model_server_process("support.core_model:official_answer") as url:
        yield url


def place(root: Path, url: str) -> Path:
    """A folder with the published tables and two models, one of them with the paper's name."""
    shutil.copytree(ROOT / "results" / "published", root / "results" / "published")
    models = Path(__file__).with_name("reproduced_models.yaml").read_text()
    (root / "models.yaml").write_text(models.replace("$url", url))
    return root


def call(root: Path, *arguments: str, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One command in this folder, in a process that is ended when it takes too long."""
    folder = official_store().folder if data is None else data
    environment = {
        **os.environ,
        "TRIATHLON_CACHE": str(root / "cache"),
        "TRIATHLON_DATA": str(folder),
        "HTTPS_PROXY": "http://127.0.0.1:9",  # nothing is fetched
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-c", COMMAND, "reproduce", *arguments]
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def lines(root: Path, suite: str) -> list[dict[str, Any]]:
    return json_lines(root / f"results/runs/gpt-4-turbo/{suite}.jsonl")


def table(root: Path, name: str) -> dict[str, dict[str, str]]:
    """The cells of one table of the page, by model."""
    rows = csv_rows((root / f"_site/data/reproduced-{name}.csv").read_text())
    return {row["Model"]: row for row in rows}


@pytest.mark.slow
def test_evoeval(tmp_path: Path, server: str) -> None:
    """Nine sets, one sample each; a second call asks nothing; a model of another name stands below."""
    root = place(tmp_path, server)
    done = call(root, "evoeval", "--limit", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "36 units finished, 0 open" in done.stdout
    assert "requests" in done.stdout.partition("units finished")[0], "what it takes is said first"
    outcomes = [line["outcome"] for line in lines(root, "evolved/difficult")]
    rows = table(root, "evoeval")
    passed = 100 * outcomes.count("passed") / len(outcomes)
    assert float(rows["GPT-4-Turbo"]["difficult"]) == pytest.approx(passed, abs=1e-3)
    assert float(rows["GPT-4-Turbo"]["difficult, paper"]) == 50.0
    assert rows["GPT-4-Turbo"]["Tasks"] == "2 of 164"
    assert not rows["My own model"]["difficult, paper"] and rows["My own model"]["difficult"]
    page = (root / "_site" / "published" / "evoeval-reproduced.html").read_text()
    assert "EvoEval’s instruction differs by family of models" in page
    assert "not in the paper’s table" in page
    again = call(root, "evoeval", "--limit", "2", "--url", "https://example.org/board")
    assert "0 units finished, 0 open" in again.stdout, again.stdout + again.stderr
    assert "https://example.org/board/" in (root / "_site/404.html").read_text()  # as of `triathlon build`


@pytest.mark.slow
def test_evaloop(tmp_path: Path, server: str) -> None:
    """Five tables and figure 3: prompts, temperatures, attacks, five runs at 0.8, translation."""
    root = place(tmp_path, server)
    done = call(root, "evaloop", *ONE, "--limit", "1", "--tables", "evaloop,evaloop_sampling")
    assert done.returncode == 0, done.stdout + done.stderr
    (greedy,) = lines(root, "loop/mbpp-plus")
    assert [line["sample"] for line in lines(root, "loop/mbpp-plus@temperature-0.8")] == [*range(5)]
    row = table(root, "evaloop")["GPT-4-Turbo"]
    assert float(row["pass@1"]) == 100.0 * (greedy["sustained_loops"] > 0)
    assert float(row["pass@1, paper"]) == 74.1
    sampling = table(root, "evaloop_sampling")
    assert sampling["13 models, in the paper"]["greedy, paper"] == "6.38"
    assert float(sampling["GPT-4-Turbo"]["greedy"]) == greedy["sustained_loops"]
    assert "missing: a judge" in done.stdout


@pytest.mark.slow
def test_reval(tmp_path: Path, server: str) -> None:
    """The authors' prompts, five samples, the authors' rule for outputs, direct and chain of thought."""
    root = place(tmp_path, server)
    done = call(root, "reval", *ONE, "--limit", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    suite = "runtime/dreval@reval-truths"
    records = lines(root, suite)
    assert len(records) == 2 * 5 and len(lines(root, "runtime/dreval@cot+reval-truths")) == 10
    hashes = known_protocols()
    assert {record["protocol"]["graded"] for record in records} == {hashes[suite, ""].graded}
    assert hashes[suite, ""].asked == hashes["runtime/dreval", ""].asked
    assert all(record["output"]["correct"] == record["output_by_authors"] for record in records)
    coverage = [one["coverage"]["correct"] for record in records for one in record["statements"]]
    rows = table(root, "reval")
    own = pytest.approx(100 * sum(coverage) / len(coverage), abs=1e-3)
    assert float(rows["GPT-4-Turbo"]["coverage"]) == own
    assert rows["Average, in the paper"]["IC, paper"] == "10.3"
    assert not rows["GPT-4-Turbo, chain of thought"]["IC, paper"]


def test_what_is_missing_is_refused(tmp_path: Path) -> None:
    """Without data nothing is asked; what is missing and where it goes is said, with exit code 2."""
    root = place(tmp_path, NOBODY)
    (root / "empty").mkdir()
    done = call(root, "evoeval", "--tables", "evoeval_combine", data=root / "empty")
    assert done.returncode == 2, done.stdout
    assert "missing: evolved/humaneval: The data file 'HumanEvalPlus.jsonl.gz' is not in" in done.stdout
    assert "get it, leave it out with --partly, or choose other --tables" in done.stderr
    assert not (root / "results" / "runs").exists()


def test_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    """Requests, tokens and money of the models that have a price; no server is needed."""
    root = place(tmp_path, NOBODY)
    done = call(root, "evoeval", "--tables", "evoeval_combine", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "evolved/combine" in done.stdout and "USD" in done.stdout and "no price" in done.stdout
    assert not (root / "_site").exists()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--tables", "evoevil", "unknown table of EvoEval 'evoevil'; did you mean evoeval"),
        ("--results", "elsewhere", "expected the published tables in 'elsewhere/published', got none"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, option: str, value: str, said: str) -> None:
    """Before data is read."""
    done = call(place(tmp_path, NOBODY), "evoeval", option, value)
    assert done.returncode == 2 and said in done.stderr
