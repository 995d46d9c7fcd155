"""Cells of the tables, as the macros of the templates write them."""

import re
from dataclasses import replace

from triathlon_site.pages import ShownScore
from triathlon_site.ranking import Rank, RankShift
from triathlon_site.render import installed_environment
from triathlon_site.uncertainty import Interval

SCORE = ShownScore(0.5, Interval(0.4, 0.6), 20, maximum=1.0, link="")


def macro(name: str, *arguments: object, **named: object) -> str:
    """What a macro of the cells writes."""
    return str(installed_environment().macro("shared/cells", name)(*arguments, **named))


def test_rank_tier_and_shift_stand_where_they_are_asked_for() -> None:
    """The number and its interval always; a dash for no score; the ends of a rank's interval are words for
    the ear.
    """
    rank = Rank(2, tied=True, low=1, high=3)
    cell = replace(SCORE, rank=rank, tier=1, shift=RankShift(-2, significant=False))
    plain = '<td class="score" data-v="0.5"><b>50.0</b> <small>40.0–60.0</small>'
    assert macro("score", cell) == f"{plain}</td>"
    assert macro("score", cell, placed=True) == f'{plain} <small class="place">rank =2</small></td>'
    ranked = re.sub(r"\s+", " ", macro("score", cell, ranked=True))
    assert ranked == f'{plain} <small class="place">rank =2 (1–3), tier 1, −2?</small></td>'
    assert "–" in macro("score", None)
    assert macro("outcome", '<b a="1">').count("<") == 2
    assert re.sub(r"<[^>]+>", "", macro("rank", Rank(1, tied=False, low=1, high=80))) == "rank 1, 1 to 80"


def test_only_a_score_that_was_judged_again_has_the_tick() -> None:
    """The letter is that of the grade in both cases; the title says the rest in words."""
    score = replace(SCORE, link="models/m.html#receipt")
    plain, again = (macro("grade", replace(score, judged_again=judged), "") for judged in (False, True))
    assert 'title="measured: where it comes from">m</a>' in plain
    assert 'title="measured, graded again here: where it comes from">m✓</a>' in again
