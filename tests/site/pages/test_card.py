"""The card of our own problems on the site."""

from types import SimpleNamespace
from typing import Any, cast

from triathlon_site.load import Results
from triathlon_site.pages.method import core_draft


def _results(*outcomes: tuple[str, str, int]) -> Results:
    tasks = [
        SimpleNamespace(task_id=task, outcome=outcome, sample=sample) for task, outcome, sample in outcomes
    ]
    found: dict[str, Any] = {"m": SimpleNamespace(tasks=tasks)}
    return cast(
        "Results", SimpleNamespace(of_suite=lambda suite: found if suite == "evolved/core-seeds" else {})
    )


def test_levels_count_the_first_sample_of_each_seed() -> None:
    """Solved of run, by level; a second sample and a task that is no seed any more count nowhere."""
    (row,) = core_draft(
        _results(
            ("core/seeds/mirror-name", "passed", 0),
            ("core/seeds/mirror-name", "failed", 1),
            ("core/seeds/draw-line", "crashed", 0),
            ("core/seeds/open-minutes", "passed", 0),
            ("core/seeds/of-old", "passed", 0),
        )
    ).values["rows"]
    assert row == ("m", [(1, 2), (0, 0), (0, 0), (1, 1), (0, 0)])


def test_the_card_is_that_of_the_package() -> None:
    """Its headings and tables come out as HTML."""
    card = core_draft(_results()).values["card"]
    assert "<h2>Known limits</h2>" in card
    assert "<table>" in card
