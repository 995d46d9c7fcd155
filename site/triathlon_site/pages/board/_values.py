"""Cells of the smaller tables: models and differences."""

from collections.abc import Mapping, Sequence

from triathlon_site.models import ModelInfo
from triathlon_site.render import Value, formats
from triathlon_site.uncertainty import Difference


def model_cell(info: ModelInfo) -> Value:
    """The cell of a model, in the first column of a table."""
    return Value(info.name, link=info.page)


def difference_cell(difference: Difference | None, maximum: float) -> Value:
    """The cell of a difference: `−4.2`, its interval below it; pale where the interval holds zero."""
    if difference is None:
        return Value(formats.NONE)
    ends = (difference.interval.low, difference.interval.high)
    span = " to ".join(formats.signed(end, maximum) for end in ends)
    return Value(formats.signed(difference.value, maximum), span, sure=difference.sure)


def listed_names(models: Mapping[str, ModelInfo], ids: Sequence[str]) -> str:
    """The names of models in a sentence: `A, B and C`."""
    names = [models[model].name for model in ids]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
