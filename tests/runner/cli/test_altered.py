"""A line of results whose outcome somebody changed by hand: every command tells the same story."""

import json
import shutil
from pathlib import Path

import pytest

import triathlon_site.cli  # noqa: F401  # adds its commands
from support.model_server import model_server_process
from support.small_run import ROWS, SmallRun, made
from triathlon_runner.errors import UserError

SUITE = "evolved/core-seeds"
LINES = Path("runs/m") / f"{SUITE}.jsonl"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two units of a suite of each discipline."""
    return made(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def altered(finished: SmallRun, tmp_path: Path) -> SmallRun:
    """The same, with the outcome of one line changed."""
    shutil.copytree(finished.root, tmp_path / "altered")
    small = SmallRun(tmp_path / "altered")
    lines = small.results / LINES
    first, second = lines.read_text().splitlines()
    lines.write_text(json.dumps(json.loads(first) | {"outcome": "refused"}) + "\n" + second + "\n")
    return small


def test_run_counts_the_unit_of_an_altered_line_as_open(altered: SmallRun) -> None:
    """It does not count, so its unit is open, as `scores` says, and the exit code is 2."""
    result = altered.run()
    assert result.exit_code == 2
    assert "0 units finished, 1 open" in result.output
    assert f"results/{LINES}, line 1: outcome: 'refused', but its verdict says 'passed'" in result.output


def test_the_scores_leave_the_line_out(altered: SmallRun) -> None:
    """One unit counts, one is open."""
    result = altered.call("scores")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert any(row[-2:] == ["1", "1"] for row in rows)
    assert "A score with open units" in result.stdout and "has no rank" in result.stdout
    assert "does not count" in result.output + result.stderr


def test_the_advice_holds(altered: SmallRun) -> None:
    """Without the line its unit is made again from the reply in the cache, where the server is there."""
    lines = altered.results / LINES
    lines.write_text(lines.read_text().partition("\n")[2])
    with model_server_process("support.core_model:answer") as url:
        (altered.root / "models.yaml").write_text(ROWS.format(url=url))
        result = altered.run()
    assert result.exit_code == 0 and "1 unit finished, 0 open" in result.output, result.output
    assert json.loads(lines.read_text().splitlines()[0])["outcome"] == "passed"


@pytest.mark.parametrize("command", [("results", "list"), ("verify",), ("results", "diff", "other")])
def test_a_folder_in_place_of_a_results_file(altered: SmallRun, command: tuple[str, ...]) -> None:
    """It is named; nothing is silently left out."""
    lines = altered.results / LINES
    shutil.copytree(altered.results, altered.root / "other")
    lines.unlink()
    lines.mkdir()
    arguments = (*command, str(altered.results)) if command[-1] == "other" else command
    error = altered.call(*arguments).exception
    assert isinstance(error, UserError) and str(lines.name) in str(error)


def test_lines_of_another_model_are_not_counted(altered: SmallRun) -> None:
    """A folder that was copied is no result of the model whose name it got, also without its manifests."""
    rows = (altered.root / "models.yaml").read_text()
    (altered.root / "models.yaml").write_text(rows.replace("id: m", "id: copy"))
    shutil.copytree(altered.results / "runs/m/loop", altered.results / "runs/copy/loop")
    (altered.results / "runs/copy/loop/core.manifest.json").unlink()
    result = altered.call("run", "--models", "copy", "--suites", "loop/core", "--limit", "2")
    assert "copy loop/core holds results of another model or suite: lines of m loop/core" in result.output
    verified = altered.call("verify", "--models", "copy")
    assert verified.exit_code == 1 and "nan" not in verified.output
    assert "expected a line of copy loop/core, got one of m loop/core" in verified.output


def test_verify_names_every_damaged_line_and_grades_the_others(altered: SmallRun) -> None:
    """An altered and two broken lines: the readable ones are graded again, each of the others is named."""
    lines = altered.results / LINES
    with lines.open("a") as file:
        file.write("\n{\n")
    result = altered.call("verify", "--suites", SUITE)
    output = " ".join(result.output.split())
    assert result.exit_code == 1
    assert f"m {SUITE}: 2/4 units, DOES NOT FOLLOW" in output
    assert "outcome: stored 'refused', graded again 'passed'" in output
    for line in ("line 3: expected a JSON object, got ''", "line 4: expected a JSON object, got '{'"):
        assert f"not graded again: results/{LINES}, {line}; delete the line" in output
