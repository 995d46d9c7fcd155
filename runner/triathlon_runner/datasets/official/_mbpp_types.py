"""MBPP+ keeps its inputs as JSON; for some tasks the functions want tuples, sets or complex numbers.

Which tasks and where is a property of the data set (EvalPlus' reader of MBPP+ v0.2.0 knows it, the file does
not say it). It is written here as the shape of a task's arguments.
"""

from collections.abc import Callable
from typing import Any, Final

Convert = Callable[[list[Any]], list[Any]]


def _deep_tuple(value: Any) -> Any:
    return tuple(map(_deep_tuple, value)) if isinstance(value, list) else value


def _tuple_if_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_TASKS_OF_SHAPE: Final[tuple[tuple[Convert, tuple[int, ...]], ...]] = (
    (
        lambda args: [tuple(arg) for arg in args],
        (
            *(2, 116, 132, 222, 261, 273, 394, 421, 424),
            *(429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
        ),
    ),
    (
        lambda args: [[tuple(item) for item in arg] for arg in args],
        (63, 64, 70, 94, 120, 237, 272, 299, 409, 473, 614, 780),
    ),
    (lambda args: [[tuple(item) for item in args[0]], *args[1:]], (75, 413, 753)),
    (lambda args: [args[0], tuple(args[1])], (106, 750)),
    (lambda args: [tuple(args[0]), *args[1:]], (250, 405, 446, 720, 763, 808)),
    (lambda args: [tuple(tuple(item) for item in arg) for arg in args], (259, 445)),
    (lambda args: [_deep_tuple(arg) for arg in args], (580, 615, 791)),
    (lambda args: [float(args[0]), complex(args[1])], (124,)),
    (lambda args: [complex(arg) for arg in args], (252,)),
    (lambda args: [tuple(map(_tuple_if_list, arg)) for arg in args], (278,)),
    (lambda args: [{key: tuple(item) for key, item in args[0].items()}, *args[1:]], (722,)),
)
_CONVERT: Final[dict[str, Convert]] = {
    f"Mbpp/{number}": convert for convert, numbers in _TASKS_OF_SHAPE for number in numbers
}


def typed_arguments(task_id: str, arguments: list[Any]) -> list[Any]:
    """The arguments of one call as the task's function wants them."""
    return _CONVERT[task_id](arguments) if task_id in _CONVERT else arguments
