"""The columns of the table of all models, with the boards and published tables of their figures."""

from dataclasses import dataclass
from typing import Final

from triathlon_site.published import SAME, Places


@dataclass(frozen=True, slots=True)
class FrontColumn:
    """One column of the index, and of the table where it has a title."""

    id: str
    name: str
    """Its title where it stands alone."""
    tasks: int
    """Binomial trials that stand for its noise in the index: no more than there are independent tasks.
    Questions of one DREval program, and problems evolved from one seed, count as one trial. A task of the
    loop scores between 0 and 1, so its variance is at most that of a binomial trial."""
    board: str
    """Id of the board that has the measured and recorded scores."""
    column: str
    """Id of the column of that board."""
    title: str = ""
    """In the table; empty for a column that only links the others in the index."""
    small: str = ""
    data: str = ""
    """The name of the data in a sentence."""

    @property
    def discipline(self) -> str:
        return self.board.partition("-")[0]

    @property
    def reported(self) -> Places:
        """Published tables and the column in each; the first that has a figure counts."""
        return _NOT_THE_SAME.get(self.column) or SAME[self.board][self.column]


_NOT_THE_SAME: Final = {"runtime/dreval:ic": (("reval", "ic"),)}
"""Figures that stand on no board, because REval's code has other right answers."""
FRONT: Final = (
    FrontColumn(
        "loop",
        "ASL on MBPP+, divided by 10",
        378,
        "loop-mbpp-plus",
        "loop/mbpp-plus:asl_low",
        "Loop",
        "ASL, MBPP+",
        "MBPP+",
    ),
    FrontColumn(
        "runtime_output",
        "CRUXEval output pass@1",
        800,
        "runtime-cruxeval-output",
        "runtime/cruxeval-output:pass@1",
        "Runtime",
        "CRUXEval output",
        "CRUXEval’s outputs",
    ),
    FrontColumn(
        "runtime_consistency",
        "DREval incremental consistency",
        154,
        "runtime-dreval",
        "runtime/dreval:ic",
        "Runtime",
        "DREval IC",
        "DREval",
    ),
    FrontColumn(
        "evolved",
        "EvoEval mean pass@1",
        164,
        "evolved-official",
        "evolved:average",
        "Evolved",
        "EvoEval mean",
        "EvoEval",
    ),
    FrontColumn(
        "humaneval_plus", "HumanEval+ pass@1", 164, "evolved-official", "evolved/humaneval-plus:pass@1"
    ),
    FrontColumn("mbpp_plus", "MBPP+ pass@1", 378, "evolved-official", "evolved/mbpp-plus:pass@1"),
)
SHOWN: Final = tuple(column for column in FRONT if column.title)
DISCIPLINES: Final = tuple(dict.fromkeys(column.discipline for column in SHOWN))
CORRELATED: Final = (
    *FRONT[:2],
    FrontColumn(
        "runtime_input",
        "CRUXEval input pass@1",
        800,
        "runtime-cruxeval-input",
        "runtime/cruxeval-input:pass@1",
        "Runtime",
        "CRUXEval input",
    ),
    *FRONT[2:],
)
"""Columns of the page of agreement. CRUXEval's inputs are not in the index: few models have them alone."""
