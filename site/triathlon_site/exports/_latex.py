"""Tables for papers: LaTeX with the package booktabs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pandas as pd

from triathlon_site.models import ModelInfo
from triathlon_site.render import Page, Section, formats
from triathlon_site.scores import Board, ColumnScores, Overall

_SIGNS: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": r"$-$",
        "–": "--",
        "±": r"$\pm$",
    }
)

Models = Mapping[str, ModelInfo]


def escape(text: str) -> str:
    """Escapes a text for LaTeX, in one line, so that no name is read as a command."""
    return " ".join(text.split()).translate(_SIGNS)


def board_files(boards: Sequence[Board], models: Models) -> Iterator[Page]:
    for board in boards:
        title = f"{board.plan.discipline.capitalize()}, {board.plan.title}"
        head = ("Rank", "Model", *(column.column.title for column in board.shown))
        rows = [
            (_rank(board.headline, model), models[model].name, *(_score(c, model) for c in board.shown))
            for model in board.models
        ]
        yield Page(f"data/{board.plan.id}.tex", latex_table(title, head, rows))


def overall_files(overalls: Mapping[str, Overall], models: Models) -> Iterator[Page]:
    for family, overall in overalls.items():
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
        yield Page(f"data/overall-{family}.tex", latex_table("All disciplines", head, rows))


def section_file(path: str, section: Section) -> Page:
    rows = [
        tuple(f"{cell.text} ({cell.small})" if cell.small else cell.text for cell in row)
        for row in section.rows
    ]
    return Page(path, latex_table(section.title, section.head, rows))


def latex_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular: text on the left, numbers on the right."""
    cells = pd.DataFrame([[escape(cell) for cell in row] for row in rows], columns=range(len(head)))
    labels: dict[object, str] = dict(enumerate(map(escape, head)))
    shown = cells.style.hide(axis="index").format_index(labels.__getitem__, axis="columns")
    columns = "".join("l" if name in {"Model", "Set"} else "r" for name in head)
    about = f"% {' '.join(title.split())}; \\usepackage{{booktabs}}"
    return f"{about}\n{shown.to_latex(column_format=columns, hrules=True)}"


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
