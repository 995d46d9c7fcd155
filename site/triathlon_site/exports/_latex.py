"""Tables for papers: LaTeX with the package booktabs."""

from collections.abc import Sequence
from typing import Final

import pandas as pd

from triathlon_site.models import Models
from triathlon_site.render import formats
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
    cells = pd.DataFrame([[_escape(cell) for cell in row] for row in rows], columns=range(len(head)))
    labels: dict[object, str] = dict(enumerate(map(_escape, head)))
    shown = cells.style.hide(axis="index").format_index(labels.__getitem__, axis="columns")
    columns = "".join("l" if name in {"Model", "Set"} else "r" for name in head)
    about = f"% {' '.join(title.split())}; \\usepackage{{booktabs}}"
    return f"{about}\n{shown.to_latex(column_format=columns, hrules=True)}"


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
