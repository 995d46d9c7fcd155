"""The page of one board: its ranking with every column, reported figures among its rows, its smaller tables.

Reported figures are ranked by value; they are part of no tier and no paired test. And what pages say of who
leads a board.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import itemgetter
from typing import Any, Final

from triathlon_runner import catalogue
from triathlon_runner.records import Outcome, PredictionRecord
from triathlon_site.costs import RunCost, run_cost
from triathlon_site.exports import section_path, table_files
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._scores import Place, cell, marks_of, places
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board._parts import DisciplineView
from triathlon_site.pages.board.evolved import EVOLVED
from triathlon_site.pages.board.loop import LOOP, TRANSLATION
from triathlon_site.pages.board.runtime import PREDICTION, RUNTIME
from triathlon_site.ranking import REPORTED, Score
from triathlon_site.render import Draft, Link
from triathlon_site.scores import Board, Column, ColumnScores, known_share, part_run, set_title

VIEWS: Final = {"loop": LOOP, "runtime": RUNTIME, "evolved": EVOLVED, "translation": TRANSLATION}
ARTICLES: Final = {
    record: article for view in (*VIEWS.values(), PREDICTION) for record, article in view.articles.items()
}
"""How the evidence shows a unit, by the type of its record."""


def view_named(discipline: str) -> DisciplineView:
    """The view of a discipline; a plain one for a discipline that has none of its own."""
    return VIEWS.get(discipline, DisciplineView())


def view_of(board: Board) -> DisciplineView:
    """The view of the board's discipline; of a suite that asks in another way, the view of its records."""
    if all(suite.record is PredictionRecord for suite in board.plan.suites):
        return PREDICTION
    return view_named(board.plan.discipline)


def heading_of(board: Board) -> str:
    """The discipline under whose heading the board is linked: the translation loop is a kind of loop."""
    discipline = board.plan.discipline
    return catalogue.discipline(discipline).kind_of or discipline


def finding(board: Board, models: Models) -> dict[str, Any] | None:
    """Who leads a board, and who cannot be told from the leader; None where no model has a headline score."""
    scores = board.headline.scores
    ranked = [model for model in board.models if model in scores]
    if not ranked:
        return None
    first = [m for m in ranked if (rank := scores[m].rank) and rank.rank == 1]
    return {
        "board": board,
        "leaders": [models[model] for model in first],  # several where the first place is shared
        "score": scores[ranked[0]],
        "alike": [models[m] for m in ranked if scores[m].tier == 1 and m not in first],
        "models": len(ranked),
        "unit": view_of(board).unit,
    }


@dataclass(frozen=True, slots=True)
class BoardModel:
    """One model in the table of a board."""

    id: str
    """Among the models with results; empty for a published one that is certainly none of them."""
    info: ModelInfo
    figures: Mapping[str, Score]
    """Reported figures by id of the column, where the model has no score."""
    has_results: bool
    """Whether the board has results of it, and not only reported figures."""
    place: Place | None = None
    """By its score, else by its reported figure; None for a model without either, or without a rank."""


def board_models(site: Gathered, board: Board) -> list[BoardModel]:
    """The models in the order of the table: by the headline, those without a score or figure in it last.

    The board's models stay in their order: a reported figure moves none of them.
    """
    ids: dict[int, list[str]] = defaultdict(list)
    for model, joined in site.same.items():
        ids[id(joined)].append(model)
    columns = {column.column.id: column for column in board.columns}
    filled: dict[str, Mapping[str, Score]] = {}
    added = []
    for joined in site.reported.models:
        if figures := site.reported.on_board(board, joined):
            own = ids.get(id(joined), [])
            on_board = [model for model in own if model in board.files]
            for model in on_board:
                filled[model] = {name: f for name, f in figures.items() if not columns[name].shown(model)}
            if not on_board:
                model = next((model for model in own if model in site.models), "")
                source, row = next(iter(joined.rows.items()))
                info = site.models[model] if model else site.published_infos[source][row.name]
                added.append(BoardModel(model, replace(info, bits=None), figures, has_results=False))
    graded = [BoardModel(m, site.models[m], filled.get(m, {}), has_results=True) for m in board.models]
    return _in_order(board, [*graded, *added])


def _in_order(board: Board, rows: Sequence[BoardModel]) -> list[BoardModel]:
    """By score or reported figure, a figure behind an equal score; by the other columns where both lack."""
    scores, column = board.headline.scores, board.headline.column.id
    graded = {number: scores[row.id] for number, row in enumerate(rows) if row.id in scores}
    values = {number: row.figures[column].value for number, row in enumerate(rows) if column in row.figures}
    values |= {number: score.middle for number, score in graded.items()}
    found = places(values, {number: score.rank for number, score in graded.items()}, beside=bool(graded))
    keyed: list[tuple[tuple[bool, float, bool], BoardModel]] = []
    for number, row in enumerate(rows):
        if number in values:
            # of too few graded models no ranks are said
            place = found[number] if board.headline.has_ranks or number not in graded else None
            keyed.append(((False, -values[number], number not in graded), replace(row, place=place)))
        elif row.has_results:
            keyed.append(((True, -known_share(row.id, board.columns), False), row))
        else:
            shares = [figure.share for figure in row.figures.values()]
            keyed.append(((True, -sum(shares) / len(shares), False), row))
    return [row for _, row in sorted(keyed, key=itemgetter(0))]


def reported_rows(models: Sequence[BoardModel]) -> list[dict[str, Any]]:
    """The reported figures of a board, as rows of its data files."""
    return [
        {
            "column": column,
            "model": one.id or None,
            "name": one.info.name,
            "score": figure.value,
            "low": figure.interval.low if figure.interval.known else None,
            "high": figure.interval.high if figure.interval.known else None,
            "source": f"{figure.source}, {figure.date}",
        }
        for one in models
        for column, figure in one.figures.items()
    ]


def drafts(site: Gathered, board: Board) -> Iterator[Draft]:
    """The page of one board with the files of its smaller tables; reported figures stand in its ranking."""
    view, models, in_table = view_of(board), site.models, board_models(site, board)
    # of a model without a row in models.yaml, a published table may say whether it follows instructions
    kinds = {m: row.kind for m, joined in site.same.items() for row in joined.rows.values() if row.kind}
    known = {m: replace(info, kind=info.kind or kinds.get(m)) for m, info in models.items()}
    sections = [part for part in view.sections(board, known) if part.rows or not part.head]
    outcomes = [
        (models[model], sum((Counter(file.outcomes) for file in board.files[model]), Counter[str]()))
        for model in board.models
    ]
    reported = {column for one in in_table for column in one.figures}
    leading = finding(board, models)
    shown = {column.column.id for column in board.shown} | reported
    columns = [column for column in board.columns if column.column.id in shown]
    rows = [_row(board, one, columns, marked=bool(reported)) for one in in_table]
    paths = {part.anchor: section_path(board, part) for part in sections if part.rows}
    cells = [cell for row in rows for cell in row["cells"]]
    costs = [field.name for field in fields(RunCost)]
    values = {
        "board": board,
        "discipline": board.plan.discipline,
        "view": view,
        "siblings": _siblings(board, site.boards),
        "columns": [column.column for column in columns],
        # columns of cost that some model has a value in, behind all others
        "costs": [name for name in costs if any(getattr(row["cost"], name) is not None for row in rows)],
        "rows": rows,
        "graded": any(cell and cell.link for cell in cells),
        "marks": marks_of(cells),
        "reported": sorted({(c.source, c.link) for c in cells if c and c.grade == REPORTED}),
        "finding": leading,
        # reported figures above every score of the board's own
        "higher": [
            (one.info.label, figure)
            for one in in_table
            if leading
            and (figure := one.figures.get(board.headline.column.id))
            and figure.value > leading["score"].middle
        ],
        "figures": list(view.figures(board, board.models[: view.models_drawn], models)),
        "sections": sections,
        "section_paths": paths,
        "outcome_names": [name.value for name in Outcome if any(name in total for _, total in outcomes)],
        "outcomes": outcomes,
    }
    files = (file for part in sections if part.rows for file in table_files(paths[part.anchor], part))
    yield Draft(board.plan.page, "board/page", values, tuple(files))


def _row(board: Board, model: BoardModel, columns: Sequence[ColumnScores], *, marked: bool) -> dict[str, Any]:
    """The row of a model of the board, or of a published model, which has reported figures only."""
    scores = (cell(column, model.id, marked=marked) for column in columns)
    cells = [
        score or model.figures.get(column.column.id) for column, score in zip(columns, scores, strict=True)
    ]
    opened = board.open_units(model.id) if model.has_results else None
    part = (part_run(board.files[model.id]), board.samples_run(model.id)) if model.has_results else ()
    return {
        "model": model,
        "cells": cells,
        # of each column the sets that a mean lacks, where there is no score for that
        "missing": [missing_suites(board, column.column, model.id) for column in columns],
        "cost": run_cost(board.files.get(model.id, ()), model.info.price),
        # None for a model of which the board has reported figures only
        "open_units": opened,
        # beside the name: that a part of the tasks was planned, that units are open
        "flags": list(filter(None, (", ".join(filter(None, part)), f"{opened} open" if opened else ""))),
    }


def missing_suites(board: Board, column: Column, model: str) -> str:
    """The sets that a mean over several lacks of a model, in words; empty where it lacks none."""
    have = {file.suite for file in board.files.get(model, ()) if file.units}
    missing = [suite for suite in column.suites if suite not in have]
    if len(column.suites) == 1 or len(missing) == len(column.suites):
        return ""
    return ", ".join(set_title(suite.partition("/")[2].removeprefix("core-")) for suite in missing)


def _siblings(board: Board, boards: Sequence[Board]) -> list[Link]:
    """Each by its title, behind the name of its discipline where that differs from the heading."""
    heading = heading_of(board)
    links = []
    for plan in (sibling.plan for sibling in boards if heading_of(sibling) == heading):
        title = plan.title if plan.discipline == heading else f"{plan.discipline}, {plan.title}"
        links.append(Link(title, plan.page))
    return links if len(links) > 1 else []
