"""The report of `triathlon submit check` on a terminal: sentences and a table."""

from rich.table import Table

from triathlon_runner.submit import SHOWN, Problem, SubmissionReport, result_in_words, scores_in_words
from triathlon_runner.terminal import Screen


def show_report(report: SubmissionReport, screen: Screen) -> None:
    """Whether the submission can be taken, a row for each suite, and what is against it."""
    verdict = "can be taken" if report.accepted else "cannot be taken yet"
    screen.print_message(f"submission of {report.model}: {verdict}")
    screen.print_message(report.what_was_graded())
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("suite", overflow="fold", no_wrap=True)
    for name in ("units", "equal", "open"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("scores", overflow="fold")
    table.add_column("result", no_wrap=True)
    for file in report.files:
        counts = (str(file.units), str(file.verified), str(file.open_units))
        table.add_row(file.suite, *counts, scores_in_words(file), result_in_words(file))
    screen.print(table)
    if not report.listed:
        screen.print_message(report.about_missing_row())
    _show_problems(report.problems, screen)
    for file in report.files:
        _show_problems(file.problems, screen)


def _show_problems(problems: list[Problem], screen: Screen) -> None:
    for problem in problems[:SHOWN]:
        screen.print_message(f"{problem.place}: {problem.message}")
    if len(problems) > SHOWN:
        screen.print_message(f"and {len(problems) - SHOWN} more, which --json lists")
