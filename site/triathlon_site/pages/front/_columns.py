"""The columns of the table of all models, with the boards and published tables of their figures."""

from dataclasses import dataclass
from typing import Final

from triathlon_site.ability import COLUMNS, IndexColumn
from triathlon_site.published import SAME, Places


@dataclass(frozen=True, slots=True)
class FrontColumn:
    """One column of the index, and of the table where it has a title."""

    index: IndexColumn
    board: str
    """Id of the board that has the measured and recorded scores."""
    column: str
    """Id of the column of that board."""
    title: str = ""
    """Empty for a column that only links the others in the index."""
    small: str = ""
    data: str = ""
    """The name of the data in a sentence."""

    @property
    def id(self) -> str:
        return self.index.id

    @property
    def discipline(self) -> str:
        return self.board.partition("-")[0]

    @property
    def reported(self) -> Places:
        """Published tables and the column in each; the first that has a figure counts."""
        return _NOT_THE_SAME.get(self.column) or SAME[self.board][self.column]


_NOT_THE_SAME: Final = {"runtime/dreval:ic": (("reval", "ic"),)}
"""Figures that stand on no board, because REval's code has other right answers."""
_INDEX: Final = {column.id: column for column in COLUMNS}
_OUTPUT: Final = "runtime/cruxeval-output:pass@1"
_INPUT: Final = "runtime/cruxeval-input:pass@1"
FRONT: Final = (
    FrontColumn(_INDEX["loop"], "loop-mbpp-plus", "loop/mbpp-plus:asl_low", "Loop", "ASL, MBPP+", "MBPP+"),
    FrontColumn(
        _INDEX["runtime_output"],
        "runtime-cruxeval-output",
        _OUTPUT,
        "Runtime",
        "CRUXEval output",
        "CRUXEval’s outputs",
    ),
    FrontColumn(
        _INDEX["runtime_consistency"], "runtime-dreval", "runtime/dreval:ic", "Runtime", "DREval IC", "DREval"
    ),
    FrontColumn(
        _INDEX["evolved"], "evolved-official", "evolved:average", "Evolved", "EvoEval mean", "EvoEval"
    ),
    FrontColumn(_INDEX["humaneval_plus"], "evolved-official", "evolved/humaneval-plus:pass@1"),
    FrontColumn(_INDEX["mbpp_plus"], "evolved-official", "evolved/mbpp-plus:pass@1"),
)
SHOWN: Final = tuple(column for column in FRONT if column.title)
DISCIPLINES: Final = tuple(dict.fromkeys(column.discipline for column in SHOWN))
_INPUTS: Final = IndexColumn("runtime_input", "CRUXEval input pass@1", 800)
CORRELATED: Final = (
    *FRONT[:2],
    FrontColumn(_INPUTS, "runtime-cruxeval-input", _INPUT, "Runtime", "CRUXEval input"),
    *FRONT[2:],
)
"""Columns of the page of agreement. CRUXEval's inputs are not in the index: few models have them alone."""
