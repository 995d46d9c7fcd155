"""One model under the names that different sources give it."""

from collections.abc import Sequence
from dataclasses import dataclass

from triathlon_site.published._read import ALIAS_SOURCES, Published
from triathlon_site.published._tables import PublishedBoard, PublishedRow, PublishedScore


@dataclass(frozen=True, slots=True)
class JoinedModel:
    """A model with its row in each source that has it."""

    name: str
    rows: dict[str, PublishedRow]
    """By board id."""

    def score(self, board: str, column: str) -> PublishedScore | None:
        """Its score in a column of a ranking; None where it has none."""
        row = self.rows.get(board)
        return row.scores.get(column) if row else None


def join_models(published: Published, boards: Sequence[PublishedBoard]) -> tuple[JoinedModel, ...]:
    """Every model of every source once; only reviewed aliases join names."""
    by_name = {board.id: {row.name: row for row in board.rows} for board in boards}
    joined = [
        JoinedModel(alias["model"], {s: by_name[s][alias[s]] for s in ALIAS_SOURCES if alias[s]})
        for alias in published.aliases
    ]
    joined_rows = {(source, row.name) for model in joined for source, row in model.rows.items()}
    single = [
        JoinedModel(row.name, {board.id: row})
        for board in boards
        for row in board.rows
        if (board.id, row.name) not in joined_rows
    ]
    return (*joined, *single)
