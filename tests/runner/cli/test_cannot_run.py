"""What cannot run on this machine: named, it is a user's error; unnamed, it is left out with the reason."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import patch

import pytest

from support.small_run import ROWS, SmallRun
from triathlon_runner import catalogue
from triathlon_runner.cli._report import notices
from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.sandbox import SandboxError
from triathlon_runner.schedule import RunPlan, Work


@pytest.fixture
def place(tmp_path: Path) -> SmallRun:
    """A model whose server is away."""
    (tmp_path / "models.yaml").write_text(ROWS.format(url="http://127.0.0.1:1/v1"))
    return SmallRun(tmp_path)


@pytest.fixture
def without_php(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose PHP has another name."""
    renamed = replace(LANGUAGES[Language.PHP], command=("php-that-is-not-here",))
    monkeypatch.setitem(LANGUAGES, Language.PHP, renamed)


@pytest.mark.usefixtures("without_php")
def test_suites_without_their_interpreter(place: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain through PHP cannot be run without PHP: left out with what to install; named, an error."""
    missing = "php is not installed"
    named = f"'translation/core' was named and cannot run here: {missing}"
    place.expect("run --models m --suites translation/core --dry-run", 2, named)
    few = [one for one in catalogue.entries() if one.id in ("translation/core", "evolved/core-seeds")]
    monkeypatch.setattr("triathlon_runner.catalogue._entries", lambda *_: tuple(few))  # all take a minute
    skipped = f"skipped suite translation/core: {missing}: 'php-that-is-not-here' is not on"
    run = "run --models m --profile standard --limit 1 --dry-run"
    said = place.expect(run, 0, skipped, "php-cli", "evolved/core-seeds")
    assert said.count("translation/core") == 1


@patch("triathlon_runner.sandbox._open._check_ways_out", side_effect=SandboxError("the kernel has none"))
def test_nothing_can_be_executed(_: object, place: SmallRun) -> None:
    """Each command that executes programs says in a line what to enable, without a traceback.

    `doctor` has exit code 1, each level's reason, and what helps, also in gVisor and Apple's container.
    """
    (place.root / "samples.jsonl").write_text('{"task_id": "core/seeds/bill-total", "solution": "x"}\n')
    for command in ("grade samples.jsonl --suite evolved/core-seeds", "run --models m --dry-run"):
        place.expect(command, 2, "nothing is executed here", "Enable")
    reasons = [f"not {level}: this isolation level does not work" for level in ("namespaces", "lite")]
    advice = "your own kernel: Linux 5.13", "gVisor", "Apple", "!every one is decided outside"
    place.expect("doctor", 1, *reasons, "lite: the kernel has none", *advice)


def test_a_cluster_without_ray(place: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said before anything is asked."""
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "triathlon_runner.cluster", raising=False)
    run = "run --models m --suites evolved/core-seeds --executor ray"
    place.expect(run, 2, "--executor ray needs Ray: pip install '.[ray]'")


@pytest.mark.parametrize("lacks", [True, False])
def test_programs_that_lack_a_library_are_named(lacks: bool) -> None:
    """With what installs the libraries; those without a question are no news: they are so everywhere."""
    left_out = {"D/3": "no input with a question"}
    if lacks:
        left_out["D/117"] = "needs bs4, not installed here"
    settings: dict[str, Any] = {"questions": {"count": 3070, "left_out_programs": left_out}}
    row = SimpleNamespace(id="m", serve=None, api=None)
    work = SimpleNamespace(row=row, suite_id="runtime/dreval", settings=settings, asks_for_copies=False)
    said = list(notices(RunPlan(work={"m": [cast("Work", work)]})))
    assert len(said) == lacks
    for notice in said:
        assert "runtime/dreval asks 3070 questions, not all that its data set has: D/117 needs bs4" in notice
        assert "[official]'" in notice and "no input" not in notice
