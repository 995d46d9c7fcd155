"""The parts of pages that are specific to the loop discipline."""

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


def lost_loops(model: str, board_retention: BoardRetention, rounds: str) -> Iterator[str]:
    """A sentence on how many loops a task of the model lasts, beside the other models."""
    mean, rivals_mean = board_retention.beside(model, board_retention.means)
    yield (
        f"A task that it solves at first lasts {mean:.1f} of {board_retention.suites[0].most:.0f} {rounds}"
        f" on average; with the other models {rivals_mean:.1f}."
    )


def loop_note(value: float, total: float, rivals: float, most: float) -> str:
    """How many loops one task of a model lasts, beside the other models that solve it."""
    return (
        f"lasts {value:.0f} of {most:.0f}; with the {rivals:.0f} others that solve it"
        f" {total / rivals:.1f} on average"
    )


LOOP = DisciplineView(
    figures_title="Loop by loop",
    unit="task",
    endings="A task passes where all its loops do; else it ends as its first lost loop did.",
    models_drawn=5,
    figures=curve_and_radar,
    sections=loop_sections,
    retentions=loop_retentions,
    losses=lambda model, _, board_retention: lost_loops(model, board_retention, "loops"),
    loss_note=loop_note,
)
