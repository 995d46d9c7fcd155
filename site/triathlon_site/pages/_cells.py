"""What stands in tables thousands of times, in plain Python: a template takes several times as long.

Numbers need no escaping; what comes from outside is escaped here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from markupsafe import Markup, escape

from triathlon_site.evidence import outcome
from triathlon_site.pages import _format
from triathlon_site.pages._page import Cell
from triathlon_site.ranking import RankShift
from triathlon_site.scores import Score


def score(cell: Cell, *, ranked: bool = False, placed: bool = False, why: str = "") -> Markup:
    """One score: number, interval, strip; rank and tier where asked for.

    Args:
        cell: the score.
        ranked: with rank, tier and rank shift.
        placed: with the rank alone.
        why: link to what was lost where the shift is downwards.
    """
    found = cell.score
    if found is None:
        return Markup('<td class="score" data-v=""><span class="none">–</span></td>')
    value = _format.known_range(found.value, found.upper, cell.maximum)
    rank = f'<small class="place">rank {_format.rank(found.rank)}</small>' if placed and found.rank else ""
    return Markup(
        f'<td class="score" data-v="{cell.sort}"><b>{value}</b>{cell.strip}'
        f"<small>{_format.span(found.interval, cell.maximum)}</small>{rank}"
        f"{_place(found, why) if ranked else ''}</td>"
    )


def _place(found: Score, why: str) -> str:
    if found.rank is None:
        return ""
    span = f" ({_format.rank_span(found.rank)})" if found.rank.low != found.rank.high else ""
    tier = f", tier {found.tier}" if found.tier else ""
    shift = ""
    if found.shift and found.shift.shift:
        shift = f", {moved(found.shift, why)}{'' if found.shift.significant else '?'}"
    return f'<small class="place">rank {_format.rank(found.rank)}{span}{tier}{shift}</small>'


def moved(shift: RankShift, why: str = "") -> Markup:
    """A rank shift; one downwards leads to what was lost."""
    text = _format.shift(shift.shift)
    if not why or shift.shift >= 0:
        return Markup(text)
    return Markup(f'<a href="{escape(why)}" title="Why it falls">{text}</a>')


def outcome_counts(outcomes: Mapping[str, int], names: Sequence[str]) -> Markup:
    """A cell a name: how many units ended so."""
    return Markup("".join([f'<td class="number">{outcomes.get(name) or "·"}</td>' for name in names]))


def outcome_names(outcomes: Mapping[str, int]) -> Markup:
    """How units ended, and how many of them."""
    return Markup(" · ".join([f"{outcome(name)} {count}" for name, count in sorted(outcomes.items())]))


FUNCTIONS: Final[dict[str, Callable[..., Markup]]] = {
    "score": score,
    "moved": moved,
    "outcome_counts": outcome_counts,
    "outcome_names": outcome_names,
}
"""By their names in templates."""
