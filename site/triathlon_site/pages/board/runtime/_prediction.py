"""What pages say of output and input prediction."""

from collections.abc import Iterator, Mapping, Sequence

from triathlon_site.pages.board._retention import BoardRetention, Retention, retention
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.runtime._sections import runtime_sections
from triathlon_site.scores import Board


def _retentions(board: Board, _: Mapping[str, Sequence[str]]) -> Iterator[Retention]:
    """pass@1 of each program."""
    (sample,) = board.headline.samples
    yield retention(sample, sample.shares() * sample.maximum, sample.maximum)


def _losses(model: str, _: Board, found: BoardRetention) -> Iterator[str]:
    """The share of programs that the model predicts, beside the others'."""
    own, others = found.beside(model, found.means)
    yield f"It predicts {100 * own:.0f} % of the programs; the other models {100 * others:.0f} %."


PREDICTION = DisciplineView(
    figures_title="Program by program",
    unit="program",
    endings="A unit is one answer about a program with one input.",
    models_drawn=30,
    figures=lambda *_: iter(()),
    sections=runtime_sections,
    retentions=_retentions,
    losses=_losses,
    loss_note=lambda _value, total, others, _most: f"{total:.0f} of {others:.0f} other models predict it",
)
