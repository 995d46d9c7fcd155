"""MBPP+ keeps its inputs as JSON; for some tasks the functions want tuples, sets or complex numbers.

Which tasks and where is a property of the data set (EvalPlus' reader of MBPP+ v0.2.0 knows it, the file does
not say it). It is written here as the shape of a task's arguments.
"""

from collections.abc import Callable
from typing import Any, Final

Shape = Callable[[Any], Any]
Convert = Callable[[list[Any]], list[Any]]


def _same(value: Any) -> Any:
    return value


def _tuple_of(inner: Shape) -> Shape:
    return lambda value: tuple(inner(item) for item in value)


def _list_of(inner: Shape) -> Shape:
    return lambda value: [inner(item) for item in value]


def _deep_tuple(value: Any) -> Any:
    return tuple(_deep_tuple(item) for item in value) if isinstance(value, list) else value


def _tuple_if_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _tuple_values(value: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(item) for key, item in value.items()}


_TUPLE: Final = _tuple_of(_same)
_LIST_OF_TUPLES: Final = _list_of(_TUPLE)


def _every(shape: Shape) -> Convert:
    return lambda arguments: [shape(argument) for argument in arguments]


def _each(*shapes: Shape) -> Convert:
    return lambda arguments: [shape(argument) for shape, argument in zip(shapes, arguments, strict=True)]


def _first(shape: Shape) -> Convert:
    return lambda arguments: [shape(arguments[0]), *arguments[1:]]


_TASKS_OF_SHAPE: Final[tuple[tuple[Convert, tuple[int, ...]], ...]] = (
    (
        _every(_TUPLE),
        (
            *(2, 116, 132, 222, 261, 273, 394, 421, 424),
            *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
        ),
    ),
    (
        _every(_LIST_OF_TUPLES),
        (63, 64, 70, 94, 120, 237, 272, 299, 409, 473, 614, 780),
    ),
    (_first(_LIST_OF_TUPLES), (75, 413, 753)),
    (_each(_same, _TUPLE), (106, 750)),
    (_first(_TUPLE), (250, 405, 446, 720, 763, 808)),
    (_every(_tuple_of(_TUPLE)), (259, 445)),
    (_every(_deep_tuple), (580, 615, 791)),
    (_each(float, complex), (124,)),
    (_every(complex), (252,)),
    (_every(_tuple_of(_tuple_if_list)), (278,)),
    (_first(_tuple_values), (722,)),
)
_CONVERT: Final[dict[str, Convert]] = {
    f"Mbpp/{number}": convert for convert, numbers in _TASKS_OF_SHAPE for number in numbers
}


def typed_arguments(task_id: str, arguments: list[Any]) -> list[Any]:
    """The arguments of one call as the task's function wants them."""
    convert = _CONVERT.get(task_id)
    return convert(arguments) if convert is not None else arguments
