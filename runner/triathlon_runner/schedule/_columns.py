"""Columns of the progress panel and of the final table, by the width of the window."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the panel or of the final table."""

    name: str
    from_width: int
    """The narrowest window, in columns, that shows it."""
    if_any: bool = False
    """Whether it is left out where all its values are 0."""


PANEL: Final = (
    Column("done", 0),
    Column("open", 50),
    Column("failed", 80),
    Column("tokens/s", 60),
    Column("in flight", 80),
    Column("time left", 40),
    Column("USD", 90),
    Column("limit", 100),
    Column("replies", 110),
    Column("cached", 120),
    Column("retries", 120),
    Column("cut", 120),
)
FINAL: Final = (
    Column("done", 0),
    Column("open", 50),
    Column("replies", 60),
    Column("tokens", 60),
    Column("cached", 60, if_any=True),
    Column("retries", 70, if_any=True),
    Column("USD", 40),
    Column("cut", 90, if_any=True),
    Column("most in flight", 110),
)
