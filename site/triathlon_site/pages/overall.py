"""The board of our own problems, or of added data: all disciplines, who leads, and how sure that is."""

from collections.abc import Iterator
from typing import Any, Final

from triathlon_site.costs import run_cost
from triathlon_site.pages._scores import cell, marks_of
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import finding, missing_suites, view_of
from triathlon_site.render import Draft
from triathlon_site.scores import Overall, OverallRow, part_run

TITLES: Final = {"core": "Our own problems", "added": "Added data"}


def drafts(site: Gathered) -> Iterator[Draft]:
    """A page a family of data that has results."""
    for family, path in site.overall_pages.items():
        overall = site.overalls[family]
        lines = [_line(site, overall, row) for row in overall.rows]
        dates = [line["date"] for line in lines if line["date"] and line["measured"]]
        values = {
            "overall": overall,
            "disciplines": [words for board in overall.boards if (words := view_of(board).in_words)],
            "family": family,
            "lines": lines,
            "findings": [lead for board in overall.boards if (lead := finding(board, site.models))],
            # days of the oldest and the newest measured result
            "measured": (min(dates), max(dates)) if dates else None,
            "marks": marks_of(cell for line in lines for cell in line["cells"]),
        }
        yield Draft(path, "overall/page", values)


def _line(site: Gathered, overall: Overall, row: OverallRow) -> dict[str, Any]:
    boards = [board for board in overall.boards if row.model in board.models]
    files = [file for board in boards for file in board.files[row.model]]
    return {
        "info": site.models[row.model],
        "row": row,
        "cells": [cell(board.headline, row.model) for board in overall.boards],
        # of each headline the sets that a mean lacks
        "missing": [missing_suites(board, board.headline.column, row.model) for board in overall.boards],
        "open_units": sum(board.open_units(row.model) for board in boards),
        "part": part_run(files),
        # USD over the boards' files; None where the cost of one of them is not known
        "cost": run_cost(files, site.models[row.model].price).cost_usd,
        # day of its newest result
        "date": max((file.ended for file in files), default=""),
        "measured": any(file.manifest and not file.receipt for file in files),
    }
