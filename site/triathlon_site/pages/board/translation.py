"""The translation loop on the pages, which is a kind of loop."""

from collections.abc import Iterator
from typing import Final

from triathlon_runner.translation import STEPS, TARGETS, TITLES
from triathlon_site.models import Models
from triathlon_site.pages.board._figures import curve_and_radar
from triathlon_site.pages.board._tables import model_table
from triathlon_site.pages.board._view_protocol import DisciplineView
from triathlon_site.pages.board.loop import loop_note, loop_retentions, lost_loops
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, total

CURVE: Final = ("pass_at_1", *(f"sustain_{step}" for step in range(2, STEPS + 1)))
"""The ids of the suite's metrics that say whether a task passed step 1 … M."""


def translation_sections(board: Board, models: Models) -> Iterator[Section]:
    """The share of right programs whose translation passes, language by language."""
    text = "Of the programs that were right so far, the share whose translation passes its own tests."
    for entry in board.plan.suites:
        columns: dict[str, dict[str, Value]] = {}
        files = board.of_suite(entry.id)
        for model, file in files.items():
            totals = [total(file, metric) for metric in CURVE]
            passed = [round(part.numerator) for part in totals]
            reached = [round(totals[0].denominator), *passed]
            for language, tried, passing in zip(TARGETS, reached, passed, strict=False):
                columns.setdefault(f"into {TITLES[language]}", {})[model] = _step(tried, passing)
        if files:
            yield model_table("Where the chain breaks", text, models, files, columns)


def _step(reached: int, passed: int) -> Value:
    """The share of the right programs whose translation into a language passes."""
    if not reached:
        return Value(formats.NONE, "none reached it", details={"reached": 0})
    details = {"passed": passed, "reached": reached}
    return Value(formats.percent(passed / reached), f"{passed} of {reached}", 100 * passed / reached, details)


TRANSLATION = DisciplineView(
    figures_title="Language by language",
    about_prompts="Our wording of the prompt in EVALOOOP’s section 5.",
    endings="A task passes where all its translations do; else it ends as the first lost one did.",
    figures=curve_and_radar,
    sections=translation_sections,
    retentions=loop_retentions,
    losses=lambda model, _, board_retention: lost_loops(model, board_retention, "translations"),
    loss_note=loop_note,
)
