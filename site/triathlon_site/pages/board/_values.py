"""Cells of the smaller tables: models and differences."""

from collections.abc import Mapping, Sequence

from triathlon_site.models import ModelInfo
from triathlon_site.render import Value, formats
from triathlon_site.uncertainty import Difference


def named(info: ModelInfo) -> Value:
    """The cell of a model, in the first column of a table."""
    return Value(info.name, link=info.page)


def difference(found: Difference | None, maximum: float) -> Value:
    """The cell of a difference: `−4.2`, its interval below it; pale where the interval holds zero."""
    if found is None:
        return Value(formats.NONE)
    span = " to ".join(formats.signed(end, maximum) for end in (found.interval.low, found.interval.high))
    return Value(formats.signed(found.value, maximum), span, sure=found.sure)


def names(models: Mapping[str, ModelInfo], chosen: Sequence[str]) -> str:
    """The names of models in a sentence: `A, B and C`."""
    listed = [models[model].name for model in chosen]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
