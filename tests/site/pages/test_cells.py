"""Cells that are written without a template."""

import pytest
from markupsafe import Markup

from support.aggregates import aggregate
from triathlon_runner.metrics import Metric
from triathlon_runner.records import Usage
from triathlon_site.pages._cells import moved, outcome_names, outcome_row, score, score_row
from triathlon_site.pages._page import Cell
from triathlon_site.ranking import Rank, RankShift
from triathlon_site.scores import Column, Score
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
    cell = Cell(found, 1.0, Markup(""))
    plain = '<td class="score" data-v="0.5"><b>50.0</b><small>40.0–60.0</small>'
    assert score(cell) == f"{plain}</td>"
    assert score(cell, placed=True) == f'{plain}<small class="place">rank =2</small></td>'
    assert score(cell, ranked=True) == f'{plain}<small class="place">rank =2 (1–3), tier 1, −2?</small></td>'
    assert "–" in score(Cell(None, 1.0, cell.strip))


def test_outcomes_that_no_unit_has_are_a_dot() -> None:
    """In the order of the names, whatever there is; then what was left open and what it took."""
    used = Usage(requests=1000, input_tokens=2, output_tokens=3)
    file = aggregate("m", "<i>", outcomes={"passed": 3}, usage=used, seconds=89.0)
    numbers = ["·", "3", "0", "1,000", "2", "3", "89 s", "–"]
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    assert outcome_row(file, ("failed", "passed")) == f'<tr><th scope="row">&lt;i&gt;</th>{cells}</tr>'


@pytest.mark.parametrize("suites", [("loop/core",), ("loop/core", "loop/<b>")])
def test_a_score_names_its_receipt(suites: tuple[str, ...]) -> None:
    """One file has a link of its own; of several, how many there are."""
    metric = Metric("x", "", "", contributions=lambda _: [])
    column = Column("x", "A & B", '">', tuple((suite, metric) for suite in suites))
    found = Score(0.5, Interval(0.4, 0.6), 20, Rank(2, tied=False, low=1, high=3))
    row = score_row(column, Cell(found, 1.0, Markup("")), {"loop/core": "receipt-loop-core"})
    one = '<a href="#receipt-loop-core" aria-label="Receipt of A &amp; B">receipt</a>'
    assert (one in row) == (len(suites) == 1)
    assert ('<a href="#receipts">2 files</a>' in row) == (len(suites) == 2)
    assert row.startswith('<tr><th scope="row" title="&#34;&gt;">A &amp; B</th><td class="score"')
    assert '<td class="number">2<small>1–3</small></td><td class="number">20</td>' in row
