"""The parts of pages that depend on the discipline of a board."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence import Article
from triathlon_site.models import Models
from triathlon_site.published import SAME, Places
from triathlon_site.render import Figure, Section
from triathlon_site.scores import Board


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
    """Id of the column of that board; empty for figures that others published alone."""
    small: str = ""
    """In the table, below its title; empty for a column that only links the others in the index."""
    head: str = ""
    """In the table, above `small`; empty for the name of the discipline."""
    about: str = ""
    """What it measures, in a few words that stand below its name."""
    optional: bool = False
    """Whether few models have it: the table shows it to who asks for it, and nothing is ranked by it."""
    within: str = ""
    """Its name in a sentence about such a choice."""
    maximum: float = 100.0
    """Of its scale on the page of choice."""
    in_index: bool = True
    """Whether it counts in the index; else it stands on the page of agreement only, and beside the others in
    the table where it has no scores of a board."""
    published: Places = ()
    """Where its figures are published, if not where those of the board's column are, or in another order."""

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


@dataclass(frozen=True)
class DisciplineView:
    """The parts of pages that one discipline fills in its own way; without them, its ranking alone."""

    figures_title: str = "Model by model"
    unit: str = "task"
    """The word for a task: `task` or `program`."""
    endings: str = ""
    """The meaning of a unit's outcome, in one sentence."""
    models_drawn: int = 5
    """Models in a figure of the board."""
    figures: Callable[[Board, Sequence[str], Models], Iterator[Figure]] = lambda *_: iter(())
    """The figures of these models on the board; the other models stay in the background."""
    sections: Callable[[Board, Models], Iterator[Section]] = lambda *_: iter(())
    """The smaller tables below the ranking."""
    articles: Mapping[type[UnitRecord], Article] = field(default_factory=dict)
    """How the evidence shows a unit, by the type of its record."""
    about_prompts: str = ""
    """How the prompts differ from the paper's, in one sentence."""
    front: tuple[FrontColumn, ...] = ()
    """The columns of the table of all models."""
