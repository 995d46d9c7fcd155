"""Which figures a board has."""

from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_site.build import gather
from triathlon_site.costs import mostly_ran, share_that_ran
from triathlon_site.pages.board import view_of
from triathlon_site.render import Figure

MOST_BARS, MOST_MUTED = 12, 200


@pytest.mark.parametrize(("models", "titles"), [(MOST_BARS, 1), (MOST_BARS + 1, 2)])
def test_the_questions_are_bars_with_the_line_of_ic(tmp_path: Path, models: int, titles: int) -> None:
    """However many models there are: the best ones as bars; where there are more, all as dots below."""
    fakes = [FakeModel(f"m{n:02}", 2.0 - n / 4) for n in range(models)]
    write_results(tmp_path, fakes, [FakeSuite(entry, tasks=6) for entry in entries(["runtime/core"])])
    site = gather(tmp_path, None)
    (board,) = site.boards
    first, *others = view_of(board).figures(board, board.models, site.models)
    assert first.svg.count('class="bar c') == 5 * (MOST_BARS + 1)  # with the average; and the legend
    assert first.svg.count("<circle") == MOST_BARS
    assert len(others) == titles - 1
    for figure in others:
        assert all(site.models[model].name in figure.svg for model in board.models)


def loop_figure(root: Path, models: int, shown: Callable[[Sequence[str]], Sequence[str]]) -> Figure:
    """The degradation curves of a board with so many models; `shown` chooses from their order."""
    fakes = [FakeModel(f"m{place:03d}", place / 50 - 1, 0.8) for place in range(models)]
    write_results(root, fakes, [FakeSuite(entries(["loop/core"])[0], tasks=4)])
    site = gather(root, None)
    (board,) = site.boards
    return next(view_of(board).figures(board, shown(board.models), site.models))


def those_that_ran(root: Path, order: Sequence[str]) -> list[str]:
    (board,) = gather(root, None).boards
    return [model for model in order if mostly_ran(share_that_ran(board.files[model]))]


def names_of(figure: Figure) -> tuple[set[str], set[str]]:
    """The models that are named at the ends of their lines, and those whose lines are grey."""
    svg = ElementTree.fromstring(figure.svg)
    named = {text.text or "" for group in svg.iter("g") for text in group.findall("text")}
    grey = {path.findtext("title") or "" for path in svg.iter("path") if path.get("class") == "line muted"}
    return named, grey


def test_curves_name_the_shown_and_both_ends_of_the_order(tmp_path: Path) -> None:
    """Of 80 models: the shown ones, the best and the last two in colour; every other one is a grey line, and
    so is one whose low score is of replies that did not run.
    """
    order: list[str] = []

    def in_the_middle(models: Sequence[str]) -> Sequence[str]:
        order.extend(models)
        return models[30:35]

    figure = loop_figure(tmp_path, 80, in_the_middle)
    named, grey = names_of(figure)
    ran = those_that_ran(tmp_path, order)
    assert 10 < len(ran) < 70 and ran[-2:] != order[-2:]
    assert named == {ran[0], *order[30:35], *ran[-2:]}
    assert grey == set(order) - named
    assert figure.caption.endswith("Grey: the others.")


@pytest.mark.slow
def test_a_background_of_very_many_models_is_thinned_and_says_so(tmp_path: Path) -> None:
    """At most 200 of the others are drawn; the caption says one in how many."""
    figure = loop_figure(tmp_path, MOST_MUTED + 5, lambda models: models[:1])
    named, grey = names_of(figure)
    assert len(named) == 3 and 0 < len(grey) <= MOST_MUTED
    assert figure.caption.endswith("Grey: one in 2 of the others.")
