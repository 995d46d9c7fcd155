"""Cells that are written without a template."""

import pytest

from triathlon_site.pages._cells import moved, outcome_counts, outcome_names, score
from triathlon_site.pages._page import Cell
from triathlon_site.ranking import Rank, RankShift
from triathlon_site.scores import Score
from triathlon_site.uncertainty import Interval

FALLEN = RankShift(-2, significant=False)


def test_a_link_cannot_leave_its_attribute() -> None:
    """What comes from outside is escaped, as in a template."""
    assert 'href="&#34;&gt;x"' in moved(FALLEN, '">x')
    assert outcome_names({'<b a="1">': 2}).count("<") == 2


@pytest.mark.parametrize(("shift", "why", "link"), [(-2, "#a", True), (-2, "", False), (2, "#a", False)])
def test_only_a_fall_leads_to_why(shift: int, why: str, link: bool) -> None:
    """A model that rises has lost nothing, and not every page has something to lead to."""
    assert ("<a href" in moved(RankShift(shift, significant=True), why)) == link


def test_rank_and_tier_stand_where_they_are_asked_for() -> None:
    """The number and its interval always; a dash for no score."""
    found = Score(0.5, Interval(0.4, 0.6), 20, Rank(2, tied=True, low=1, high=3), 1, FALLEN)
    cell = Cell(found, 1.0, outcome_counts({}, ()))
    plain = '<td class="score" data-v="0.5"><b>50.0</b><small>40.0–60.0</small>'
    assert score(cell) == f"{plain}</td>"
    assert score(cell, placed=True) == f'{plain}<small class="place">rank =2</small></td>'
    assert score(cell, ranked=True) == f'{plain}<small class="place">rank =2 (1–3), tier 1, −2?</small></td>'
    assert "–" in score(Cell(None, 1.0, cell.strip))


def test_outcomes_that_no_unit_has_are_a_dot() -> None:
    """In the order of the names, whatever there is."""
    assert outcome_counts({"passed": 3}, ("failed", "passed")) == (
        '<td class="number">·</td><td class="number">3</td>'
    )
