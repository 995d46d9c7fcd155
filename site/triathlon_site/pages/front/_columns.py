"""The columns of the table of all models: each stands beside the view of its discipline."""

from typing import Final

from triathlon_site.pages import board

CORRELATED: Final = board.FRONT
"""Columns of the page of agreement."""
FRONT: Final = tuple(column for column in CORRELATED if column.in_index)
"""Columns of the index."""
SHOWN: Final = tuple(column for column in FRONT if column.title)
BESIDE: Final = tuple(column for column in CORRELATED if column.title and not column.column)
"""Published figures that stand beside the columns of the index, because they are another quantity."""
RANKED_BY: Final = tuple(column for column in SHOWN if not column.optional)
"""Columns that the table can be ranked by, in the order of the choice."""
