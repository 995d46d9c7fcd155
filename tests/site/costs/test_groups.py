"""Rows of one model with different effort or token budgets."""

from pathlib import Path

import pytest

from support.results import FakeModel, FakeSuite, fake_records, write_file
from support.site import SUITES
from triathlon_runner.catalogue import find
from triathlon_runner.records import EvolvedRecord, Finish, Outcome
from triathlon_runner.registry import Registry
from triathlon_site.build import build, gather
from triathlon_site.costs import group_boards

SETS = [suite for suite in SUITES if suite.startswith("evolved/")]


def write_row(root: Path, model: str, strength: float, tokens: int, cut: int) -> None:
    """The six sets; so many failed tasks of the first one end with a cut reply."""
    for suite in SETS:
        write_set(root, model, suite, strength, tokens, cut if suite == SETS[0] else 0)


def write_set(root: Path, model: str, suite: str, strength: float, tokens: int, cut: int) -> None:
    """Twenty tasks."""
    entry = find(suite)
    assert entry is not None
    left = cut
    records = []
    for record in fake_records(FakeModel(model, strength), FakeSuite(entry, tasks=20)):
        assert isinstance(record, EvolvedRecord)
        own = record.model_copy(update={"usage": record.usage.model_copy(update={"output_tokens": tokens})})
        if left and own.outcome is not Outcome.PASSED:
            own = own.model_copy(
                update={
                    "outcome": Outcome.TRUNCATED,
                    "reply": own.reply.model_copy(update={"finish": Finish.LENGTH}),
                    "verdict": None,
                    "program": "",
                }
            )
            left -= 1
        records.append(own)
    assert not left
    write_file(root, model, suite, records)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three rows: two of one model, and another one."""
    root = tmp_path_factory.mktemp("groups")
    write_row(root / "results", "low", -0.5, 100, cut=3)
    write_row(root / "results", "high", 0.5, 900, cut=0)
    write_row(root / "results", "other", 0.0, 300, cut=0)
    return root


def registry() -> Registry:
    api = {"base_url": "http://127.0.0.1:1/v1", "model": "x"}
    rows = [("low", "think"), ("high", "think"), ("other", None)]
    return Registry.model_validate(
        {"models": [{"id": name, "name": name.title(), "api": api, "group": group} for name, group in rows]}
    )


def test_a_group_is_ordered_by_tokens(place: Path) -> None:
    """The rows of the group alone, with tokens, and the rise that three cut replies of 120 leave open."""
    site = gather(place / "results", registry())
    (found,) = group_boards(site.models["high"], site.boards, site.models)
    assert [(one.info.id, one.tokens) for one in found.members] == [("low", 100), ("high", 900)]
    low, high = found.members
    assert low.rise == pytest.approx(3 / 120)
    assert low.cost.cut_share == pytest.approx(3 / 120)
    assert high.rise is None
    assert list(group_boards(site.models["other"], site.boards, site.models)) == []


def test_pages_show_the_curve_and_the_bound(place: Path) -> None:
    """Pages of the group's rows have the figure; the row with cut replies says how far it could rise."""
    build(place / "results", place / "_site", registry(), cache=place / "cache")
    pages = {name: (place / f"_site/models/{name}.html").read_text() for name in ("low", "high", "other")}
    assert "at most +2.5 with more tokens" in pages["low"]
    assert "with more tokens" not in pages["other"]
    for name in ("low", "high"):
        assert "by output tokens</title>" in pages[name]
    assert "by output tokens</title>" not in pages["other"]
    board = (place / "_site/evolved.html").read_text()
    assert 'reasoning included.">Output tokens\n<small>a unit</small></th>' in board
    assert '<td class="number off" data-v="900">900</td>' in board
    assert "by output tokens" not in board
