"""What pages say of the translation loop, which is a kind of loop."""

from triathlon_site.pages.board._figures import curve_and_radar
from triathlon_site.pages.board._view import DisciplineView
from triathlon_site.pages.board.loop import loop_note, loop_retentions, lost_loops
from triathlon_site.pages.board.translation._sections import translation_sections

TRANSLATION = DisciplineView(
    figures_title="Language by language",
    unit="task",
    endings="A task passes where all its translations do; else it ends as the first lost one did.",
    models_drawn=5,
    figures=curve_and_radar,
    sections=translation_sections,
    retentions=loop_retentions,
    losses=lambda model, _, found: lost_loops(model, found, "translations"),
    loss_note=loop_note,
)
