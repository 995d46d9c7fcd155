"""What others put into their own texts: tables for papers, in LaTeX with booktabs; badges for a README."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_site.figures import badge
from triathlon_site.models import ModelInfo, Models
from triathlon_site.ranking import FEWEST_RANKED, Rank
from triathlon_site.render import Page, formats
from triathlon_site.scores import Board, ColumnScores, Overall

_SIGNS: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": r"$-$",
        "–": "--",
        "±": r"$\pm$",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    }
)


def board_table(board: Board, models: Models) -> str:
    """A board's columns, as its page shows them."""
    title = f"{board.plan.discipline.capitalize()}, {board.plan.title}"
    head = ("Rank", "Model", *(column.column.title for column in board.shown))
    rows = [
        (_rank(board.headline, model), models[model].name, *(_score(c, model) for c in board.shown))
        for model in board.models
    ]
    return latex_table(title, head, rows)


def overall_table(overall: Overall, models: Models) -> str:
    """The ranking over all disciplines, with the headline of each."""
    head = ("Rank", "Model", *(b.plan.discipline.capitalize() for b in overall.boards), "Mean percentile")
    rows = [
        (
            formats.rank(row.rank),
            models[row.model].name,
            *(_score(board.headline, row.model) for board in overall.boards),
            formats.score(row.percentile, 100),
        )
        for row in overall.rows
    ]
    return latex_table("All disciplines", head, rows)


def latex_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular: text on the left, numbers on the right."""
    columns = "".join("l" if name in {"Model", "Set"} else "r" for name in head)
    lines = (
        f"% {' '.join(title.split())}; \\usepackage{{booktabs}}",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _row(head),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    )
    return "".join(f"{line}\n" for line in lines)


def _row(cells: Sequence[str]) -> str:
    """A line of a tabular; one that begins with `[` or `*` would be read as an option of the line before."""
    line = " & ".join(map(_escape, cells)) + r" \\"
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


def _escape(text: str) -> str:
    """In one line, so that no name is read as a command."""
    return " ".join(text.split()).translate(_SIGNS)


def _rank(column: ColumnScores, model: str) -> str:
    score = column.scores.get(model)
    return formats.rank(score.rank if score else None)


def _score(column: ColumnScores, model: str) -> str:
    score = column.scores.get(model)
    if score is None:
        return formats.NONE
    maximum = column.column.maximum
    value = formats.known_range(score.value, score.upper, maximum)
    return f"{value} ({formats.span(score.interval, maximum)})"


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
