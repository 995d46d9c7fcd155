"""The parts of pages that are specific to the runtime discipline."""

from collections.abc import Iterator, Mapping, Sequence

from triathlon_site.pages.board._retention import BoardRetention, Retention, retention
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.runtime._figures import question_columns, question_figures
from triathlon_site.pages.board.runtime._sections import runtime_sections
from triathlon_site.render import formats
from triathlon_site.scores import Board


def _retentions(board: Board, _: Mapping[str, Sequence[str]]) -> Iterator[Retention]:
    """The headline's score of each program."""
    (sample,) = board.headline.samples
    yield retention(sample, sample.shares() * sample.maximum, sample.maximum)


def _predicted(model: str, _: Board, board_retention: BoardRetention) -> Iterator[str]:
    """The share of programs that the model predicts, beside that of the other models."""
    mean, rivals_mean = board_retention.beside(model, board_retention.means)
    yield f"It predicts {100 * mean:.0f} % of the programs; the other models {100 * rivals_mean:.0f} %."


def _losses(model: str, board: Board, _: BoardRetention) -> Iterator[str]:
    """The model's rank in each question, the worst one first."""
    ranks = [
        (column.column.title, score.rank)
        for column in question_columns(board)
        if (score := column.scores.get(model)) and score.rank
    ]
    ranks.sort(key=lambda question: -question[1].rank)
    if ranks:
        weakest_first = ", ".join(f"{title} {formats.rank(rank)}" for title, rank in ranks)
        yield (
            f"Rank in each question, the weakest first: {weakest_first}. A chain of answers counts up to its"
            " first wrong one."
        )


def _loss_note(value: float, total: float, rivals: float, _: float) -> str:
    return f"IC {value:.0f}; the others {total / rivals:.0f} on average"


RUNTIME = DisciplineView(
    figures_title="Question by question",
    unit="program",
    endings="A unit is a program with one input; it passes where all its answers are right.",
    models_drawn=30,
    figures=question_figures,
    sections=runtime_sections,
    retentions=_retentions,
    losses=_losses,
    loss_note=_loss_note,
    names_endings=False,
)

PREDICTION = DisciplineView(
    figures_title="Program by program",
    unit="program",
    endings="A unit is one answer about a program with one input.",
    models_drawn=30,
    figures=lambda *_: iter(()),
    sections=runtime_sections,
    retentions=_retentions,
    losses=_predicted,
    loss_note=lambda _value, total, rivals, _most: f"{total:.0f} of {rivals:.0f} other models predict it",
)
"""Of output and input prediction."""
