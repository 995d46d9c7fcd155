"""Pages of evidence: of each file of results its tasks, how each ended, what was written for one of them.

And the page of imported results: other people's replies, graded here, in no ranking.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup

from triathlon_runner.unit_pages import evidence_page, lines_page, suite_slug
from triathlon_site.evidence import LINKS, imported_page, imported_slug
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages._scores import cell
from triathlon_site.pages._site import Gathered, ModelCard
from triathlon_site.pages.model import in_catalogue_order, unit_draft
from triathlon_site.render import Draft
from triathlon_site.scores import Board, ColumnScores

IMPORTED: Final = "imported.html"


def drafts(site: Gathered, cards: Sequence[ModelCard]) -> Iterator[Draft]:
    """The pages of these models' measured results."""
    beside = defaultdict[str, list[tuple[str, str]]](list)
    for file in site.results.files:
        if file.has_lines:
            beside[file.suite].append((site.models[file.model].slug, site.models[file.model].label))
    for model in (model for card in cards for model in card.ids):
        info = site.models[model]
        for file in site.files.get(model, ()):
            if not file.kept:
                yield _draft(info, file, info.slug, beside[file.suite])


def _draft(info: ModelInfo, file: FileAggregate, folder: str, beside: Sequence[tuple[str, str]]) -> Draft:
    """`beside`: folder and name of each model whose units can be shown beside these."""
    imported = folder != info.slug
    values = {
        "info": info,
        "file": file,
        "home": IMPORTED if imported else info.page,
        "all_tasks": imported_page(info.slug) if imported else info.units_page,
        "tasks": Markup(file.extracts.read(LINKS).decode()),
        "packs": suite_slug(file.suite) if file.has_lines else "",  # none where texts are private
        "lines": lines_page(folder, file.suite),
        "others": [other for other in beside if other[0] != folder],
        "imported": imported,
    }
    return Draft(evidence_page(folder, file.suite), "evidence/page", values)


def imported_drafts(site: Gathered) -> Iterator[Draft]:
    """The page of imported results, of each model's units and of each file; nothing where there are none."""
    if not site.imported:
        return
    # bits of weights are those of the model that we ask: others' replies may be of other weights
    site = replace(site, models={model: replace(info, bits=None) for model, info in site.models.items()})
    tables = []
    for board in site.imported:
        columns = [column for column in board.shown if column.scores]
        rows = [_imported_row(site, board, columns, model) for model in sorted(board.models)]
        tables.append((board, columns, rows))
    yield Draft(IMPORTED, "imported/page", {"tables": tables})
    for model in sorted({file.model for file in site.imported_files}):
        info = site.models[model]
        own = in_catalogue_order(file for file in site.imported_files if file.model == model)
        yield unit_draft(info, own, imported_page(info.slug), IMPORTED, imported=True)
        for file in own:
            yield _draft(info, file, imported_slug(info.slug), [])


def _imported_row(
    site: Gathered, board: Board, columns: Sequence[ColumnScores], model: str
) -> dict[str, Any]:
    info, files = site.models[model], board.files[model]
    tasks, whole = (sum(counts) for counts in zip(*(file.task_counts for file in files), strict=True))
    return {
        "info": info,
        # A mark of what is in no ranking says nothing here, and would link to a page of measured results.
        "cells": [score and replace(score, link="") for score in (cell(column, model) for column in columns)],
        "files": files,
        "outcomes": sum((Counter(file.outcomes) for file in files), Counter[str]()),
        "units": imported_page(info.slug),
        "part": f"{tasks} of {whole} tasks" if tasks < whole else "",
    }
