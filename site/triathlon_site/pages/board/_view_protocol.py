"""The parts of pages that depend on the discipline of a board."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from triathlon_site.models import Models
from triathlon_site.pages.board._retention import BoardRetention, Retention
from triathlon_site.render import Figure, Section
from triathlon_site.scores import Board


@dataclass(frozen=True)
class DisciplineView:
    """The parts of pages that one discipline fills in its own way; without them, its ranking alone."""

    figures_title: str = "Model by model"
    unit: str = "task"
    """The word for a task: `task` or `program`."""
    endings: str = ""
    """The meaning of a unit's outcome, in one sentence."""
    models_drawn: int = 5
    """Models in a figure of the board."""
    figures: Callable[[Board, Sequence[str], Models], Iterator[Figure]] = lambda *_: iter(())
    """The figures of these models on the board; the other models stay in the background."""
    sections: Callable[[Board, Models], Iterator[Section]] = lambda *_: iter(())
    """The smaller tables below the ranking."""
    retentions: Callable[[Board, Mapping[str, Sequence[str]]], Iterator[Retention]] = lambda *_: iter(())
    """The retention of each suite; the mapping has the parents of each task."""
    losses: Callable[[str, Board, BoardRetention], Iterator[str]] = lambda *_: iter(())
    """The losses of one model on the board, in sentences."""
    loss_note: Callable[[float, float, float, float], str] = lambda _value, total, rivals, _most: (
        f"{total:.0f} of {rivals:.0f} other models solve it"
    )
    """The note beside a task that a model loses, from the model's value, the sum of the other models' values,
    the number of other models, and the maximum."""
    has_parents: bool = False
    """Whether tasks were made from other tasks."""
    names_endings: bool = True
    """Whether the outcomes of lost tasks are worth listing."""
