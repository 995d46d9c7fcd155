"""The parts of pages that are specific to the translation loop, which is a kind of loop."""

from collections.abc import Iterator, Mapping

from triathlon_runner import translation
from triathlon_site.models import ModelInfo
from triathlon_site.pages.board._figures import curve_and_radar
from triathlon_site.pages.board._values import model_cell
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.loop import loop_note, loop_retentions, lost_loops
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board, total


def translation_sections(board: Board, models: Mapping[str, ModelInfo]) -> Iterator[Section]:
    """The share of right programs whose translation passes, language by language."""
    rows = []
    titles: tuple[str, ...] = ()
    for entry in board.plan.suites:
        for model, file in board.of_suite(entry.id).items():
            steps = translation.by_language({name: [total(file, name)] for name in translation.CURVE})
            titles = tuple(f"into {step.title}" for step in steps)
            rows.append((model_cell(models[model]), *(_step(step) for step in steps)))
    text = "Of the programs that were right so far, the share whose translation passes its own tests."
    if rows:
        yield Section("Where the chain breaks", text, ("Model", *titles), tuple(rows))


def _step(step: translation.LanguageStep) -> Value:
    if not step.reached:
        return Value(formats.NONE, "none reached it")
    return Value(formats.percent(step.rate), f"{step.passed} of {step.reached}")


TRANSLATION = DisciplineView(
    figures_title="Language by language",
    unit="task",
    endings="A task passes where all its translations do; else it ends as the first lost one did.",
    models_drawn=5,
    figures=curve_and_radar,
    sections=translation_sections,
    retentions=loop_retentions,
    losses=lambda model, _, board_retention: lost_loops(model, board_retention, "translations"),
    loss_note=loop_note,
)
