"""The columns of the table of all models, with the boards and published tables of their figures."""

from dataclasses import dataclass
from typing import Final

from triathlon_site.ability import COLUMNS, IndexColumn
from triathlon_site.published import SAME, Places


@dataclass(frozen=True, slots=True)
class FrontColumn:
    """One column of the index, and of the table where it has a title."""

    index: IndexColumn
    discipline: str
    board: str
    """Id of the board that has the measured and recorded scores."""
    suite: str
    """The suite whose column of the board is taken; empty for the board's headline."""
    reported: Places
    """Published tables and the column in each; the first that has a figure counts."""
    title: str = ""
    """Empty for a column that only links the others in the index."""
    small: str = ""
    data: str = ""
    """The name of the data in a sentence."""

    @property
    def id(self) -> str:
        return self.index.id


_INDEX: Final = {column.id: column for column in COLUMNS}
_EVOLVED: Final = SAME["evolved-official"]
FRONT: Final = (
    FrontColumn(
        _INDEX["loop"],
        "loop",
        "loop-mbpp-plus",
        "",
        SAME["loop-mbpp-plus"]["loop/mbpp-plus:asl_low"],
        "Loop",
        "ASL, MBPP+",
        "MBPP+",
    ),
    FrontColumn(
        _INDEX["runtime_output"],
        "runtime",
        "runtime-cruxeval-output",
        "",
        SAME["runtime-cruxeval-output"]["runtime/cruxeval-output:pass@1"],
        "Runtime",
        "CRUXEval output",
        "CRUXEval’s outputs",
    ),
    FrontColumn(
        _INDEX["runtime_consistency"],
        "runtime",
        "runtime-dreval",
        "",
        (("reval", "ic"),),
        "Runtime",
        "DREval IC",
        "DREval",
    ),
    FrontColumn(
        _INDEX["evolved"],
        "evolved",
        "evolved-official",
        "",
        _EVOLVED["evolved:average"],
        "Evolved",
        "EvoEval mean",
        "EvoEval",
    ),
    FrontColumn(
        _INDEX["humaneval_plus"],
        "evolved",
        "evolved-official",
        "evolved/humaneval-plus",
        _EVOLVED["evolved/humaneval-plus:pass@1"],
    ),
    FrontColumn(
        _INDEX["mbpp_plus"],
        "evolved",
        "evolved-official",
        "evolved/mbpp-plus",
        _EVOLVED["evolved/mbpp-plus:pass@1"],
    ),
)
SHOWN: Final = tuple(column for column in FRONT if column.title)
_INPUT: Final = FrontColumn(
    IndexColumn("runtime_input", "CRUXEval input pass@1", 800),
    "runtime",
    "runtime-cruxeval-input",
    "",
    SAME["runtime-cruxeval-input"]["runtime/cruxeval-input:pass@1"],
    "Runtime",
    "CRUXEval input",
)
CORRELATED: Final = (*FRONT[:2], _INPUT, *FRONT[2:])
"""Columns of the page of agreement. CRUXEval's inputs are not in the index: few models have them alone."""
