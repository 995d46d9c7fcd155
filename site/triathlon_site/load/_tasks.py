"""How single units ended, in columns: what the models of a suite have in common is there once."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, overload


class TaskResult(NamedTuple):
    """How one unit ended. There are hundreds of thousands of them: a tuple with names costs the least."""

    task_id: str
    sample: int
    outcome: str
    parents: tuple[str, ...] = ()


class TaskColumns(NamedTuple):
    """The fields of `TaskResult`, a column each, all of one length."""

    task_ids: Sequence[str]
    samples: Sequence[int]
    outcomes: Sequence[str]
    parents: Sequence[tuple[str, ...]]


_task_result: Final = partial(tuple.__new__, TaskResult)
"""From a tuple of its fields, without a call in Python."""


class Tasks(Sequence[TaskResult]):
    """The units of one file, in the order of its lines."""

    __slots__ = ("_columns",)

    def __init__(self, columns: TaskColumns) -> None:
        self._columns = columns

    @classmethod
    def of(cls, results: Iterable[TaskResult]) -> "Tasks":
        columns = tuple(zip(*results, strict=True)) or ((),) * len(TaskColumns._fields)
        return cls(TaskColumns(*columns))

    @property
    def columns(self) -> TaskColumns:
        return self._columns

    def __len__(self) -> int:
        return len(self.columns.task_ids)

    def __iter__(self) -> Iterator[TaskResult]:
        return map(_task_result, zip(*self.columns, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tasks) and self.columns == other.columns

    __hash__ = None  # type: ignore[assignment]  # a sequence that is compared by what it holds

    @overload
    def __getitem__(self, place: int) -> TaskResult: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[TaskResult]: ...
    def __getitem__(self, place: int | slice) -> TaskResult | Sequence[TaskResult]:
        return tuple(self)[place]
