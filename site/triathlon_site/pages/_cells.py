"""What stands in tables thousands of times, in plain Python: a template takes several times as long.

Numbers need no escaping; what comes from outside is escaped here.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from triathlon_runner.records import Outcome
from triathlon_site.evidence import outcome
from triathlon_site.load import FileAggregate
from triathlon_site.pages import _format
from triathlon_site.pages._page import Cell
from triathlon_site.ranking import RankShift
from triathlon_site.scores import Column, Score

escaped: Final = lru_cache(maxsize=1 << 12)(escape)
"""Kept, as tables say the same names again and again."""

ORDER: Final[dict[str, int]] = {name.value: place for place, name in enumerate(Outcome)}


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
    return Markup(f'<a href="{escaped(why)}" title="Why it falls">{text}</a>')


def score_row(column: Column, found: Cell, receipts: Mapping[str, str]) -> Markup:
    """A column of a model's board: score, rank, tasks and files.

    Args:
        column: the column.
        found: the model's score in it.
        receipts: anchors of the receipts, by suite.
    """
    assert found.score is not None  # a model's page has only what it was measured in
    title = escaped(column.title)
    if len(column.parts) == 1:
        anchor = receipts[column.parts[0][0]]
        source = f'<a href="#{escaped(anchor)}" aria-label="Receipt of {title}">receipt</a>'
    else:
        source = f'<a href="#receipts">{len(column.parts)} files</a>'
    rank = f"{_format.rank(found.score.rank)}<small>{_format.rank_span(found.score.rank)}</small>"
    return Markup(
        f'<tr><th scope="row" title="{escaped(column.source)}">{title}</th>{score(found)}'
        f'<td class="number">{rank}</td><td class="number">{found.score.tasks}</td>'
        f'<td class="number">{source}</td></tr>'
    )


def outcome_row(file: FileAggregate, names: Sequence[str]) -> Markup:
    """A suite of a model: how many units ended in each of these ways, and what they took."""
    numbers = [
        *(file.outcomes.get(name) or "·" for name in names),
        file.open_units,
        *map(_format.count, (file.usage.requests, file.usage.input_tokens, file.usage.output_tokens)),
        _format.duration(file.seconds),
        _cost(file),
    ]
    cells = "".join([f'<td class="number">{number}</td>' for number in numbers])
    return Markup(f'<tr><th scope="row">{escaped(file.suite)}</th>{cells}</tr>')


def _cost(file: FileAggregate) -> str:
    """In dollars; `unknown` where the server counted no tokens, a dash where the row names no price."""
    if file.manifest is None:
        return _format.NONE
    if file.manifest.usage.uncounted:
        return "unknown"
    return _format.NONE if file.manifest.cost_usd is None else f"${file.manifest.cost_usd:.2f}"


def outcome_names(outcomes: Mapping[str, int]) -> Markup:
    """How units ended, and how many of them."""
    names = sorted(outcomes, key=_place_of)
    return Markup(" · ".join([f"{outcome(name)} {outcomes[name]}" for name in names]))


def _place_of(outcome: str) -> tuple[int, str]:
    """As the records list outcomes; what they do not list comes last."""
    return ORDER.get(outcome, len(ORDER)), outcome


FUNCTIONS: Final[dict[str, Callable[..., Markup]]] = {
    "score": score,
    "score_row": score_row,
    "moved": moved,
    "outcome_row": outcome_row,
    "outcome_names": outcome_names,
}
"""By their names in templates."""
