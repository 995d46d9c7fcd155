"""One model under the names that different sources give it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from triathlon_runner.errors import UserError
from triathlon_site.published._read import Published, Snapshot
from triathlon_site.published._tables import PublishedRow, PublishedScore, PublishedTable


@dataclass(frozen=True, slots=True)
class JoinedModel:
    """A model with its row in each source that has it."""

    name: str
    rows: dict[str, PublishedRow]
    """By board id."""
    snapshot: Snapshot | None = None
    """Of a product that the sources ran in several snapshots, or without naming one."""

    def older_than(self, other: "JoinedModel") -> bool:
        """Whether both are snapshots of one product, and one source distinguishes it from a newer one."""
        if not (self.snapshot and other.snapshot and self.snapshot.product == other.snapshot.product):
            return False
        newer = bool(self.snapshot.month) and self.snapshot.month < other.snapshot.month
        return newer and not self.rows.keys().isdisjoint(other.rows)

    def score(self, board: str, column: str) -> PublishedScore | None:
        """Its score in a column of a ranking; None where it has none."""
        row = self.rows.get(board)
        return row.scores.get(column) if row else None


def join_models(published: Published, boards: Sequence[PublishedTable]) -> tuple[JoinedModel, ...]:
    """Every model of every ranking once; each snapshot of a product is one of its own.

    Reviewed aliases join names. A ranking that `aliases.csv` has no column for uses the names of its column
    `model`, or a name that only one of the other rankings has.

    Raises:
        UserError: `products.csv` takes the names of one model for several snapshots.
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
    return tuple(_as_product(model, published) for model in joined)


def _as_product(model: JoinedModel, published: Published) -> JoinedModel:
    """The model under its name as a snapshot of a product, where `products.csv` has it.

    Raises:
        UserError: some of its names are there and others are not, or they are of different snapshots.
    """
    found = {source: published.products.get((source, row.name)) for source, row in model.rows.items()}
    first = next(filter(None, found.values()), None)
    if first is None:
        is_product = model.name in {one.product for one in published.products.values()}
        return replace(model, snapshot=Snapshot(model.name, model.name, "", "")) if is_product else model
    if wrong := [source for source, one in found.items() if one != first]:
        raise UserError(
            f"products.csv: expected all names of {model.name!r} to be one snapshot of {first.product!r}, got"
            f" {model.rows[wrong[0]].name!r} of {wrong[0]!r} as {found[wrong[0]]!r}; correct one of the rows"
        )
    return JoinedModel(first.model, model.rows, first)
