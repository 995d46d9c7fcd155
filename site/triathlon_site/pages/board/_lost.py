"""Where loops end: the table of a loop board that leads from each number to its films."""

from collections.abc import Iterator

from triathlon_site.evidence import SUMMARY, read_summary
from triathlon_site.models import Models
from triathlon_site.pages.board._film import EXAMPLE, FIXED, UNCHANGED
from triathlon_site.pages.board._tables import model_table, shown_units
from triathlon_site.render import Section, Value
from triathlon_site.scores import Board


def lost_sections(board: Board, models: Models) -> Iterator[Section]:
    """By model and loop the tasks that were lost, with what says nothing of a meaning kept or lost."""
    suite = board.plan.suites[0].id
    files = {m: file for m in board.models for file in board.files[m] if file.suite == suite}
    found = {m: read_summary(file.extracts.read(SUMMARY)) for m, file in files.items()}
    summaries = {model: summary for model, summary in found.items() if "lost" in summary}
    if not summaries:
        return
    loops = sorted({int(loop) for summary in summaries.values() for loop in summary["lost"]})
    columns: dict[str, dict[str, Value]] = {
        f"loop {loop}": {
            model: shown_units(
                models, model, suite, summary["lost"].get(str(loop), 0), f"lost in loop {loop}"
            )
            for model, summary in summaries.items()
        }
        for loop in loops
    }
    columns["kept"] = {
        model: shown_units(models, model, suite, summary["kept"], "passed")
        for model, summary in summaries.items()
    }
    columns["of these with a fixed prompt"] = {
        model: _fixed(shown_units(models, model, suite, summary["fixed"], FIXED), summary["fixed_from"])
        for model, summary in summaries.items()
    }
    for title, field, kind in (
        ("lost with an unchanged prompt", "unchanged", UNCHANGED),
        ("failed an example of their own", "example", EXAMPLE),
    ):
        columns[title] = {
            model: shown_units(models, model, suite, summary[field], kind)
            for model, summary in summaries.items()
        }
    yield model_table(
        "Where tasks are lost",
        "Tasks by the loop in which they were lost; a number opens their films, each with the words that were"
        " gone. A fixed prompt no longer changes to the last loop: the same question is asked again, and its"
        " greedy answer tests nothing more. Lost with an unchanged prompt: no words were lost, the server"
        " answered otherwise.",
        models,
        summaries,
        columns,
    )


def _fixed(cell: Value, start: int | None) -> Value:
    small = f"half of them from loop {start} on" if start else ""
    return Value(cell.text, small, cell.number, link=cell.link)
