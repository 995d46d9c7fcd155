"""The view of each discipline."""

from collections.abc import Mapping
from typing import Final

from triathlon_runner import catalogue
from triathlon_runner.records import PredictionRecord
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.evolved import EVOLVED
from triathlon_site.pages.board.loop import LOOP
from triathlon_site.pages.board.runtime import PREDICTION, RUNTIME
from triathlon_site.pages.board.translation import TRANSLATION
from triathlon_site.scores import Board

VIEWS: Final[Mapping[str, DisciplineView]] = {
    "loop": LOOP,
    "runtime": RUNTIME,
    "evolved": EVOLVED,
    "translation": TRANSLATION,
}


PLAIN: Final = DisciplineView(
    figures_title="Model by model",
    unit="task",
    endings="",
    models_drawn=5,
    figures=lambda *_: iter(()),
    sections=lambda *_: iter(()),
    retentions=lambda *_: iter(()),
    losses=lambda *_: iter(()),
    loss_note=lambda _value, total, rivals, _most: f"{total:.0f} of {rivals:.0f} other models solve it",
)
"""The view of a discipline without a folder here: its ranking and nothing else."""


def view_of(board: Board) -> DisciplineView:
    """The view of the board's discipline; of a suite that asks in another way, the view of its records."""
    if all(suite.record is PredictionRecord for suite in board.plan.suites):
        return PREDICTION
    return VIEWS.get(board.plan.discipline, PLAIN)


def heading_of(board: Board) -> str:
    """The discipline under whose heading the board is linked: the translation loop is a kind of loop."""
    discipline = board.plan.discipline
    return catalogue.discipline(discipline).kind_of or discipline
