"""The parts of pages that depend on the discipline of a board."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._retention import BoardRetention, Retention
from triathlon_site.render import Figure, Section
from triathlon_site.scores import Board

Models = Mapping[str, ModelInfo]


@dataclass(frozen=True)
class DisciplineView:
    """The parts of pages that one discipline fills in its own way; each discipline's folder has one."""

    figures_title: str
    unit: str
    """The word for a task: `task` or `program`."""
    endings: str
    """The meaning of a unit's outcome, in one sentence."""
    models_drawn: int
    """Models in a figure of the board."""
    figures: Callable[[Board, Sequence[str], Models], Iterator[Figure]]
    """The figures of these models on the board; the other models stay in the background."""
    sections: Callable[[Board, Models], Iterator[Section]]
    """The smaller tables below the ranking."""
    retentions: Callable[[Board, Mapping[str, Sequence[str]]], Iterator[Retention]]
    """The retention of each suite; the mapping has the parents of each task."""
    losses: Callable[[str, Board, BoardRetention], Iterator[str]]
    """The losses of one model on the board, in sentences."""
    loss_note: Callable[[float, float, float, float], str]
    """The note beside a task that a model loses, from the model's value, the sum of the other models' values,
    the number of other models, and the maximum."""
    has_parents: bool = False
    """Whether tasks were made from other tasks."""
    names_endings: bool = True
    """Whether the outcomes of lost tasks are worth listing."""
