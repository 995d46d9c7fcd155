"""The columns of the table of all models, and what else counts in the index: `front.csv`, read."""

from dataclasses import dataclass
from typing import Final

from triathlon_site import packaged_table
from triathlon_site.published import SAME, Places


@dataclass(frozen=True, slots=True)
class FrontColumn:
    """One column of the index, and of the table of all models where it has a title."""

    id: str
    name: str
    """Its title where it stands alone, as among the scores that a model can be chosen by."""
    tasks: int
    """Binomial trials that stand for its noise in the index: no more than there are independent tasks.
    Questions of one DREval program, and problems evolved from one seed, count as one trial. A task of the
    loop scores between 0 and 1, so its variance is at most that of a binomial trial."""
    board: str
    """Id of the board that has the measured and recorded scores."""
    column: str
    """Id of the column of that board; empty for figures that others published alone, because they are another
    quantity: REval's code has other right answers than ours."""
    small: str = ""
    """In the table, below its title; empty for a column that only links the others in the index."""
    head: str = ""
    """In the table, above `small`; empty for the name of the discipline."""
    about: str = ""
    """What it measures, in a few words that stand below its name."""
    within: str = ""
    """Its name in a sentence about a choice by it."""
    maximum: float = 100.0
    """Of its scale on the page of choice."""
    optional: bool = False
    """Whether few models have it: the table shows it to who asks for it, and nothing is ranked by it."""
    in_index: bool = True
    """Whether it counts in the index; else it stands on the page of agreement only, and beside the others in
    the table where it has no scores of a board."""
    published: Places = ()
    """Where its figures are published, the newest source first, if not where those of the board's column
    are."""

    @property
    def discipline(self) -> str:
        return self.board.partition("-")[0]

    @property
    def title(self) -> str:
        """In the table; empty for a column that is not shown there."""
        return (self.head or self.discipline.capitalize()) if self.small else ""

    @property
    def reported(self) -> Places:
        """Published tables and the column in each; the first that has a figure counts."""
        return self.published or SAME.get(self.column, ())


def _columns() -> tuple[FrontColumn, ...]:
    texts = ("id", "name", "board", "column", "small", "head", "about", "within")
    return tuple(
        FrontColumn(
            **{name: row[name] for name in texts},
            tasks=int(row["tasks"]),
            maximum=float(row["maximum"]),
            optional=bool(row["optional"]),
            in_index=bool(row["in_index"]),
            published=tuple((place.split(":")[0], place.split(":")[1]) for place in row["published"].split()),
        )
        for row in packaged_table("pages/board/front.csv")
    )


FRONT: Final = _columns()  # in the order of the table
