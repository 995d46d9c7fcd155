"""The frames that the package hands out."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import triathlon_site
from support.site import MODELS, files, rich_results
from triathlon_runner.errors import UserError
from triathlon_site.build import build, gather

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three models, and the tables that others published."""
    root = tmp_path_factory.mktemp("frames") / "results"
    rich_results(root, tasks=6)
    shutil.copytree(ROOT / "results/published", root / "published")
    return root


@pytest.fixture(scope="module")
def frames(results: Path) -> triathlon_site.Frames:
    return triathlon_site.frames(results)


def test_a_frame_has_every_unit_of_its_suite(results: Path, frames: triathlon_site.Frames) -> None:
    """As many rows as the lines that count; their mean is the score where a task has one unit."""
    for suite, units in frames.units.items():
        lines = [path.read_text().count("\n") for path in results.glob(f"runs/*/{suite}.jsonl")]
        assert len(units) == sum(lines), suite
        assert not units.duplicated(["model", "task", "sample"]).any()
    passed = frames.units["loop/core"].groupby("model")["pass_at_1"].mean()
    scores = frames.scores.query("column == 'loop/core:pass_at_1'").set_index("model")["score"]
    pd.testing.assert_series_equal(passed, scores[passed.index], check_names=False)


def test_scores_are_those_of_the_data_files(
    results: Path, frames: triathlon_site.Frames, tmp_path: Path
) -> None:
    """Row for row, and number for number; the Parquet file has their types."""
    build(results, tmp_path / "_site", None)
    board = pd.read_csv(tmp_path / "_site/data/loop-core.csv")
    own = frames.scores[frames.scores["board"] == "loop-core"].reset_index(drop=True)
    for name in ("model", "column", "score", "low", "high", "tasks", "open_units"):
        assert own[name].tolist() == board[name].tolist(), name
    stored = pd.read_parquet(tmp_path / "_site/data/scores.parquet")
    pd.testing.assert_frame_equal(
        stored.drop(columns="suites"), frames.scores.drop(columns="suites"), check_dtype=False
    )
    assert stored["rank"].dtype == "Int64" and stored["tied"].dtype == "boolean"


def test_agreement_and_published_tables_are_frames_too(frames: triathlon_site.Frames) -> None:
    """A column agrees with itself; a published table has its rows."""
    loop, average = ("loop-core", "loop/core:pass_at_1"), ("evolved-core", "evolved:average")
    assert frames.agreement.loc[[loop], [loop]].to_numpy().item() == 1
    assert -1 <= frames.agreement.loc[[loop], [average]].to_numpy().item() <= 1
    assert len(frames.published["evaloop"]) == 107


def test_nothing_is_written_into_the_results(results: Path, tmp_path: Path) -> None:
    """Frames are read; a folder that is not there is named, an empty one gives empty frames."""
    before = files(results / "runs")
    triathlon_site.frames(str(results))
    assert files(results / "runs") == before
    (tmp_path / "empty").mkdir()
    empty = triathlon_site.frames(tmp_path / "empty")
    assert not empty.units and empty.scores.empty and empty.agreement.empty and not empty.published
    with pytest.raises(UserError, match=r"expected a folder of results at '.*nowhere'"):
        triathlon_site.frames(tmp_path / "nowhere")


def test_the_documented_plot_can_be_made(results: Path, tmp_path: Path) -> None:
    """The example of docs/frames.md runs as it stands, and shows every model."""
    *_, example = re.findall(r"```python\n(.*?)```", (ROOT / "docs/frames.md").read_text(), re.DOTALL)
    (tmp_path / "results").symlink_to(results)
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    subprocess.run([sys.executable, "-c", example], cwd=tmp_path, check=True, env=environment)
    page = (tmp_path / "tokens.html").read_text()
    assert all(model.id in page for model in MODELS)


def test_the_package_is_imported_without_pandas() -> None:
    """Commands that make no site need not wait for it."""
    program = "import sys, triathlon_site\nassert 'pandas' not in sys.modules\ntriathlon_site.frames"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'fames'"):
        _ = triathlon_site.fames


def test_a_gathered_site_has_no_files_of_a_folder_that_is_gone(results: Path) -> None:
    """Without a cache, what was read is kept, its pages of evidence are not."""
    assert not any(file.extracts.states for file in gather(results, None).results.files)
