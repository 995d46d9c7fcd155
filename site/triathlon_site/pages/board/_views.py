"""The view of each discipline."""

from collections.abc import Mapping
from typing import Final

from triathlon_runner.records import Discipline
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.evolved import EVOLVED
from triathlon_site.pages.board.loop import LOOP
from triathlon_site.pages.board.runtime import RUNTIME
from triathlon_site.pages.board.translation import TRANSLATION
from triathlon_site.scores import Board

VIEWS: Final[Mapping[str, DisciplineView]] = {
    Discipline.LOOP: LOOP,
    Discipline.RUNTIME: RUNTIME,
    Discipline.EVOLVED: EVOLVED,
    Discipline.TRANSLATION: TRANSLATION,
}


def view_of(board: Board) -> DisciplineView:
    """The view of the board's discipline."""
    return VIEWS[board.plan.discipline]


def heading_of(board: Board) -> Discipline:
    """The discipline under whose heading the board is linked."""
    return view_of(board).heading
