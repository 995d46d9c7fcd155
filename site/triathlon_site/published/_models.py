"""One model under the names that different sources give it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from triathlon_site.published._read import Published
from triathlon_site.published._tables import PublishedRow, PublishedScore, PublishedTable


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


def join_models(published: Published, boards: Sequence[PublishedTable]) -> tuple[JoinedModel, ...]:
    """Every model of every ranking once.

    Reviewed aliases join names. A ranking that `aliases.csv` has no column for uses the names of its column
    `model`, or a name that only one of the other rankings has.
    """
    named = set(published.aliases[0]) if published.aliases else set()
    by_name = {board.id: {row.name: row for row in board.models} for board in boards}
    joined = [
        JoinedModel(alias["model"], {s: rows[alias[s]] for s, rows in by_name.items() if alias.get(s)})
        for alias in published.aliases
    ]
    taken = {(source, row.name) for model in joined for source, row in model.rows.items()}
    for board in sorted(boards, key=lambda board: board.id not in named):
        known = Counter(model.name for model in joined)
        for row in board.models:
            if (board.id, row.name) in taken:
                continue
            if board.id not in named and known[row.name] == 1:
                next(model for model in joined if model.name == row.name).rows[board.id] = row
            else:
                joined.append(JoinedModel(row.name, {board.id: row}))
    return tuple(joined)
