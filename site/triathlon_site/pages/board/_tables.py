"""The smaller tables of a board: a row a model, a column a quantity."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from triathlon_site.models import Models
from triathlon_site.render import Figure, Section, Value, formats
from triathlon_site.uncertainty import Difference

FIGURE_ROWS: Final = 30
"""Models in a figure with a row each."""
UNKNOWN: Final = Value(formats.NONE)


def model_table(
    title: str,
    text: str,
    models: Models,
    order: Iterable[str],
    columns: Mapping[str, Mapping[str, Value]],
    *,
    above: Sequence[Sequence[Value]] = (),
    figures: Iterable[Figure] = (),
) -> Section:
    """A section whose table has a row for each model, and a dash where a column has no cell of it.

    Args:
        title: of the section.
        text: a sentence or two below it.
        models: names and pages by id.
        order: the ids in the order of the rows.
        columns: by title, the cells by id of a model.
        above: rows above those of the models.
        figures: drawn below the table, where there is something to draw.
    """
    rows = [
        (Value(models[m].name, link=models[m].page), *(cells.get(m, UNKNOWN) for cells in columns.values()))
        for m in order
    ]
    drawn = tuple(figure for figure in figures if figure.svg)
    return Section(title, text, ("Model", *columns), (*map(tuple, above), *rows), drawn)


def count_cell(count: int) -> Value:
    """A number of models, tasks or repeats."""
    return Value(str(count), number=count)


def difference_cells(differences: Mapping[str, Difference], maximum: float) -> dict[str, Value]:
    """`−4.2`, its interval below it; pale where the interval holds zero; by model."""
    return {model: _difference(difference, maximum) for model, difference in differences.items()}


def _difference(difference: Difference, maximum: float) -> Value:
    ends = difference.interval.low, difference.interval.high
    low, high = (formats.in_unit(end, maximum) for end in ends)
    return Value(
        formats.signed(difference.value, maximum),
        " to ".join(formats.signed(end, maximum) for end in ends),
        formats.in_unit(difference.value, maximum),
        {"low": low, "high": high},
        sure=difference.sure,
    )


def score_cell(value: float, maximum: float, small: str = "", **details: float) -> Value:
    """A score, with the numbers of its small print by name."""
    return Value(formats.score(value, maximum), small, formats.in_unit(value, maximum), details)
