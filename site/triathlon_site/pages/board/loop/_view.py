"""What pages say of the loop discipline."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from triathlon_site.pages.board._figures import curve_and_radar, curve_columns
from triathlon_site.pages.board._retention import Array, BoardRetention, Retention, retention
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.loop._sections import loop_sections
from triathlon_site.scores import Board


def loop_retentions(board: Board, _: Mapping[str, Sequence[str]]) -> Iterator[Retention]:
    """Loops that a task sustains, of the tasks that the model solves at all."""
    samples = [column.samples[0] for column in curve_columns(board)]
    loops: Array = np.sum([sample.numerators for sample in samples], axis=0)
    first = samples[0]
    yield retention(first, np.where(first.numerators > 0, loops, np.nan), float(len(samples)))


def lost_loops(model: str, found: BoardRetention, rounds: str) -> Iterator[str]:
    """How many loops a task of the model lasts, beside the other models."""
    own, others = found.beside(model, found.means)
    yield (
        f"A task that it solves at first lasts {own:.1f} of {found.suites[0].most:.0f} {rounds}"
        f" on average; with the other models {others:.1f}."
    )


def loop_note(value: float, total: float, others: float, most: float) -> str:
    """What one task of a model lasts, beside the other models that solve it."""
    return (
        f"lasts {value:.0f} of {most:.0f}; with the {others:.0f} others that solve it"
        f" {total / others:.1f} on average"
    )


LOOP = DisciplineView(
    figures_title="Loop by loop",
    unit="task",
    endings="A task passes where all its loops do; else it ends as its first lost loop did.",
    models_drawn=5,
    figures=curve_and_radar,
    sections=loop_sections,
    retentions=loop_retentions,
    losses=lambda model, _, found: lost_loops(model, found, "loops"),
    loss_note=loop_note,
)
