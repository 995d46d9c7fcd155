"""Scores of any grade as tables show them; figures that others published; places among them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from triathlon_runner.records import RECORDED
from triathlon_runner.unit_pages import model_slug
from triathlon_site.published import SAME, JoinedModel, Places, Published, join_models, published_tables
from triathlon_site.ranking import APART_MARKS, Rank, Score, smallest_ranks
from triathlon_site.render import formats
from triathlon_site.scores import Board, ColumnScores
from triathlon_site.uncertainty import DIGITS

_Key = TypeVar("_Key", str, int)
_OF_OTHERS: Final = ("average_accuracy", "coverage_f1")
"""Metrics that are computed from others, and so no dimensions."""


class ReportedTables:
    """The published tables: their models, and the figures that they report."""

    def __init__(self, published: Published) -> None:
        self.tables = published_tables(published)
        boards = [table for table in self.tables if table.headline]
        self.models = join_models(published, boards)
        self.boards = {board.id: board for board in boards}

    def figure(self, model: JoinedModel, places: Places) -> Score | None:
        """The first figure of a model in these places; None where there is none."""
        for name, field in places:
            if score := model.score(name, field):
                return replace(score, rank=None)
        return None

    def on_board(self, board: Board, model: JoinedModel) -> dict[str, Score]:
        """The reported figures of a model in the columns of a board, by id of the column, on its scale."""
        places = SAME if board.plan.family == "official" else {}
        figures = ((column, self.figure(model, places.get(column.id, ()))) for column in board.plan.columns)
        return {column.id: figure.scaled(column.maximum) for column, figure in figures if figure}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one model in one column."""

    among_all: int  # scores and reported figures, whose order it is
    rank: Rank | None = None  # among the scores of one protocol, or in the index
    beside: bool = True  # whether others in the column were graded: then a place stands in brackets
    tied: bool = False  # whether another score or figure has that place, too

    @property
    def text(self) -> str:
        """Of a place without a rank."""
        place = f"{'=' if self.tied else ''}{self.among_all}"
        return f"({place})" if self.beside else place


def places(
    values: Mapping[_Key, float], ranks: Mapping[_Key, Rank | None], *, beside: bool
) -> dict[_Key, Place]:
    """The places of scores and reported figures, each under its name or number; scores may have a rank."""
    rounded = {name: round(value, DIGITS) for name, value in values.items()}
    found = smallest_ranks(list(rounded.values()))
    times = Counter(found)
    return {
        name: Place(place, ranks.get(name), beside, times[place] > 1)
        for name, place in zip(rounded, found, strict=True)
        if place
    }


def score_in(column: ColumnScores, model: str) -> Score | None:
    """The measured or recorded score of a model in a column; None where it has none."""
    score = column.shown(model)
    return replace(score, link=receipt_path(column, model)) if score else None


def cell(column: ColumnScores, model: str, *, marked: bool = False) -> Score | None:
    """The cell of one model in one column of a board.

    It links its receipt where the column has scores that are recorded or were graded again, where it is
    `marked`, or where the score is in no ranking; elsewhere no cell needs a mark of its grade.
    """
    score = score_in(column, model)
    if score is None:
        return None
    has_marks = marked or any(s.grade == RECORDED or s.judged_again for s in column.scores.values())
    again = "graded again here" if score.grade == RECORDED or score.judged_again else ""
    note = f"{', '.join(filter(None, (score.grade, again, score.apart)))}: where it comes from"
    return replace(score, note=note, link=score.link if has_marks or score.apart else "")


def marks_of(cells: Iterable[Score | None]) -> set[str]:
    """The marks beside these scores: grades that are shown, `again` for a score that was graded again here,
    and the marks of scores in no ranking.
    """
    marked = [cell for cell in cells if cell and cell.link]
    again = {"again" for cell in marked if cell.judged_again}
    return {cell.grade for cell in marked} | {cell.mark for cell in marked if cell.mark} | again


def marked(name: str, score: Score) -> str:
    """The name, behind the mark of a score that is in no ranking."""
    return f"{APART_MARKS[score.apart]} {name}" if score.apart else name


def why_apart(scores: Iterable[Score | None]) -> str:
    """A sentence for each mark of scores in no ranking, behind a space; empty without such scores."""
    reasons = dict.fromkeys(score.apart for score in scores if score and score.apart)
    return "".join(f" {APART_MARKS[reason]}: {reason}." for reason in reasons)


def receipt_path(column: ColumnScores, model: str) -> str:
    """Address of a model's receipt of a column; for a mean over several suites, that of all its receipts."""
    suites = column.column.suites
    anchor = formats.receipt_anchor(suites[0]) if len(suites) == 1 else "receipts"
    return f"models/{model_slug(model)}.html#{anchor}"


def short_title(column: ColumnScores) -> str:
    """The title of a column behind the name of its discipline: `IC` for incremental consistency."""
    return "IC" if column.column.id.endswith(":ic") else formats.inside(column.column.title)


def dimensions(boards: Sequence[Board], models: Collection[str]) -> dict[str, ColumnScores]:
    """Axes of a radar by name: ranked columns of single suites, of the family of data that most of `models`
    have, and most ranked scores.

    Where two boards have a column of one name, the board stands behind it.
    """
    columns: dict[str, list[tuple[Board, ColumnScores]]] = defaultdict(list)
    for board in boards:
        columns[board.plan.family] += [
            (board, column)
            for column in board.shown
            if column.column.ranked
            and len(column.column.parts) == 1
            and column.column.parts[0][1].id not in _OF_OTHERS
        ]

    def scores_of(family: str) -> tuple[int, int]:
        ranked = [model for _, column in columns[family] for model in models if model in column.scores]
        return len({*ranked}), len(ranked)

    axes = [
        (f"{board.plan.discipline} {short_title(column)}", board, column)
        for board, column in columns[max(columns, key=scores_of, default="")]
    ]
    times = Counter(name for name, _, _ in axes)
    return {
        name if times[name] == 1 else f"{name} ({board.plan.title})": column for name, board, column in axes
    }


def share_of_maximum(column: ColumnScores, model: str) -> float | None:
    """A score in per cent of the column's maximum, also one apart from the ranking; None without one."""
    score = column.shown(model)
    return round(100 * score.middle / column.column.maximum, DIGITS) if score else None
