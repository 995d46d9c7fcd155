"""The translation loop on the pages, which is a kind of loop."""

from collections.abc import Iterator

from triathlon_runner import translation
from triathlon_site.models import Models
from triathlon_site.pages.board._figures import curve_and_radar
from triathlon_site.pages.board._tables import model_table
from triathlon_site.pages.board._view_protocol import DisciplineView
from triathlon_site.pages.board.loop import loop_note, loop_retentions, lost_loops
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, total


def translation_sections(board: Board, models: Models) -> Iterator[Section]:
    """The share of right programs whose translation passes, language by language."""
    text = "Of the programs that were right so far, the share whose translation passes its own tests."
    for entry in board.plan.suites:
        columns: dict[str, dict[str, Value]] = {}
        files = board.of_suite(entry.id)
        for model, file in files.items():
            for step in translation.by_language({n: [total(file, n)] for n in translation.CURVE}):
                columns.setdefault(f"into {step.title}", {})[model] = _step(step)
        if files:
            yield model_table("Where the chain breaks", text, models, files, columns)


def _step(step: translation.LanguageStep) -> Value:
    if not step.reached:
        return Value(formats.NONE, "none reached it", details={"reached": 0})
    details = {"passed": step.passed, "reached": step.reached}
    return Value(formats.percent(step.rate), f"{step.passed} of {step.reached}", 100 * step.rate, details)


TRANSLATION = DisciplineView(
    figures_title="Language by language",
    endings="A task passes where all its translations do; else it ends as the first lost one did.",
    about_prompts="Our wording of the prompt in EVALOOOP’s section 5.",
    figures=curve_and_radar,
    sections=translation_sections,
    retentions=loop_retentions,
    losses=lambda model, _, board_retention: lost_loops(model, board_retention, "translations"),
    loss_note=loop_note,
)
