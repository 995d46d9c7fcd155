"""Small pictures for a README: where a model stands."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_site.figures import badge
from triathlon_site.models import ModelInfo
from triathlon_site.ranking import FEWEST_RANKED, Rank
from triathlon_site.render import Page, formats
from triathlon_site.scores import Board, Overall

_COLOURS: Final = ("#0b5fa5", "#7a3f9d", "#b3450b", "#00704f")
"""Of the disciplines, in the order of the catalogue."""
_NEUTRAL: Final = "#3a3d42"
"""Of all of them together, and of a discipline that has no colour."""
_OVERALL: Final = {
    "core": "Triathlon",
    "official": "Triathlon, official data",
    "added": "Triathlon, added data",
}


@dataclass(frozen=True, slots=True)
class Badge:
    title: str
    """The text for screen readers, in place of the picture."""
    path: str
    picture: Markup


def badges_of(info: ModelInfo, boards: Sequence[Board], overalls: Mapping[str, Overall]) -> Iterator[Badge]:
    """Overall first, then each board that ranks the model among enough others."""
    colours = dict(zip((entry.name for entry in catalogue.DISCIPLINES), _COLOURS, strict=False))
    for family, overall in overalls.items():
        ranked = [row for row in overall.rows if row.rank]
        place = next((row.rank for row in ranked if row.model == info.id), None)
        if place and len(ranked) >= FEWEST_RANKED:
            name = _OVERALL[family]
            yield _badge(info, f"overall-{family}", name, place, len(ranked), _NEUTRAL)
    for board in boards:
        score = board.headline.scores.get(info.id)
        if score and score.rank and len(board.headline.scores) >= FEWEST_RANKED:
            plan = board.plan
            colour = colours.get(plan.discipline, _NEUTRAL)
            data = "" if plan.family == "core" else f", {plan.title}"
            name = f"Triathlon {plan.discipline}{data}"
            yield _badge(info, plan.id, name, score.rank, len(board.headline.scores), colour)


def _badge(info: ModelInfo, board: str, name: str, rank: Rank, of: int, colour: str) -> Badge:
    spread = f" ({formats.rank_span(rank)})" if rank.low != rank.high else ""
    place = f"rank {formats.rank(rank)} of {of}{spread}"
    return Badge(f"{name}: {place}", f"badges/{info.slug}-{board}.svg", badge(name, place, colour))


def badge_files(badges: Sequence[Badge]) -> tuple[Page, ...]:
    """The SVG file of each badge."""
    return tuple(Page(badge.path, str(badge.picture)) for badge in badges)
