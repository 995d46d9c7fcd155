"""The page of one board: its ranking with every column, reported figures among its rows, its smaller tables.

Reported figures are ranked by value; they are part of no tier and no paired test.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter

from triathlon_runner.records import Outcome
from triathlon_site.costs import RunCost, run_cost
from triathlon_site.exports import ReportedScore, section_path, table_files
from triathlon_site.models import ModelInfo, Models
from triathlon_site.pages._cells import Cell, cell, marks_of
from triathlon_site.pages._reported import ShownScore, places_beside
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board._views import finding, heading_of, view_of
from triathlon_site.render import Draft, Link
from triathlon_site.scores import Board, Column, ColumnScores, known_share, set_title

Key = tuple[bool, float, bool]
"""Of the order of rows: without a headline last, then by score, a reported figure behind an equal score."""


@dataclass(frozen=True, slots=True)
class ReportedModel:
    """One published model that a board has figures of."""

    model: str
    """Id of the same model among those with results; empty where none is certainly the same."""
    info: ModelInfo
    figures: Mapping[str, ShownScore]
    """By id of a column."""


@dataclass(frozen=True, slots=True)
class ReportedModels:
    """The published models that a board has figures of."""

    filled: Mapping[str, Mapping[str, ShownScore]] = field(default_factory=dict)
    """Figures that fill empty cells of the board's models: by id of the model, then by column."""
    added: tuple[ReportedModel, ...] = ()
    """Models without a score on the board, which get rows of their own."""

    @property
    def columns(self) -> set[str]:
        """Ids of the columns that have a figure."""
        rows = (*self.filled.values(), *(row.figures for row in self.added))
        return {name for figures in rows for name in figures}


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a row in the table."""

    model: str
    """Id of a model of the board; empty for a published one."""
    reported: ReportedModel | None = None
    """The published model; None for a model of the board."""
    rank: int | None = None
    """Of a row that is placed by a reported figure: 1 + how many of the board's models have higher scores."""
    among_all: int | None = None
    """The place of such a row among all scores and figures."""


def reported_models(site: Gathered, board: Board) -> ReportedModels:
    """The reported figures of a board."""
    ids: dict[int, list[str]] = defaultdict(list)
    for model, joined in site.same.items():
        ids[id(joined)].append(model)
    columns = {column.column.id: column for column in board.columns}
    filled: dict[str, dict[str, ShownScore]] = {}
    added = []
    for joined in site.reported.models:
        if figures := site.reported.on_board(board, joined):
            own = ids.get(id(joined), [])
            on_board = [model for model in own if model in board.files]
            for model in on_board:
                if empty := {column: f for column, f in figures.items() if not columns[column].shown(model)}:
                    filled[model] = empty
            if not on_board:
                model = next((model for model in own if model in site.models), "")
                source, row = next(iter(joined.rows.items()))
                info = site.models[model] if model else site.published_infos[source, row.name]
                added.append(ReportedModel(model, replace(info, bits=None), figures))
    return ReportedModels(filled, tuple(added))


def reported_scores(reported: ReportedModels, models: Models) -> tuple[ReportedScore, ...]:
    """The same figures for the data files."""
    rows = [(model, models[model].name, figures) for model, figures in reported.filled.items()]
    rows += [(row.model, row.info.name, row.figures) for row in reported.added]
    return tuple(
        ReportedScore(column, model or None, name, f.value, f.interval, f"{f.source}, {f.date}")
        for model, name, figures in rows
        for column, f in figures.items()
    )


def places(board: Board, reported: ReportedModels) -> list[Place]:
    """The rows of a board, by the headline; those without a score or figure in it last.

    The board's models stay in their order: a reported figure moves none of them.
    """
    scores, column = board.headline.scores, board.headline.column.id
    middles = [score.middle for score in scores.values()]
    filled = {m: figures[column] for m, figures in reported.filled.items() if column in figures}
    own = {model: figure for model, figure in filled.items() if model not in scores}
    values = [figure.value for figure in own.values()]
    values += [row.figures[column].value for row in reported.added if column in row.figures]

    def beside(figure: ShownScore, model: str, row: ReportedModel | None = None) -> tuple[Key, Place]:
        place = Place(model, row, *places_beside(figure.value, middles, values))
        return (False, -figure.value, True), place

    keyed: list[tuple[Key, Place]] = []
    for model in board.models:
        if model in scores:
            keyed.append(((False, -scores[model].middle, False), Place(model)))
        elif model in own:
            keyed.append(beside(own[model], model))
        else:
            keyed.append(((True, -known_share(model, board.columns), False), Place(model)))
    for row in reported.added:
        if figure := row.figures.get(column):
            keyed.append(beside(figure, "", row))
        else:
            shares = [figure.share for figure in row.figures.values()]
            keyed.append(((True, -sum(shares) / len(shares), False), Place("", row)))
    return [place for _, place in sorted(keyed, key=itemgetter(0))]


def shown_columns(board: Board, reported: ReportedModels) -> list[ColumnScores]:
    """The columns of the table: those with a score or a reported figure."""
    shown = {column.column.id for column in board.shown} | reported.columns
    return [column for column in board.columns if column.column.id in shown]


@dataclass(frozen=True)
class BoardRow:
    """One model in the ranking."""

    info: ModelInfo
    place: Place
    cells: tuple[Cell, ...]
    cost: RunCost
    open_units: int | None = None
    """None for a model of which the board has reported figures only."""
    tasks_done: str = ""
    """`20 of 142` where only a part of the suites was planned, else empty."""

    @property
    def flags(self) -> list[str]:
        """What stands beside the name: that a part of the tasks was planned, that units are open."""
        return [*filter(None, [self.tasks_done]), *([f"{self.open_units} open"] if self.open_units else [])]

    @property
    def grades(self) -> list[str]:
        """Grades of its cells, each once."""
        return list(dict.fromkeys(cell.grade for cell in self.cells if cell.grade))


def drafts(site: Gathered, board: Board) -> Iterator[Draft]:
    """The page of one board with the files of its smaller tables; reported figures stand in its ranking."""
    view, models, reported = view_of(board), site.models, reported_models(site, board)
    sections = list(view.sections(board, models))
    outcomes = [
        (models[model], sum((Counter(file.outcomes) for file in board.files[model]), Counter[str]()))
        for model in board.models
    ]
    columns = shown_columns(board, reported)
    rows = [_row(site, board, place, columns, reported) for place in places(board, reported)]
    paths = {part.anchor: section_path(board, part) for part in sections if part.rows}
    cells = [cell for row in rows for cell in row.cells]
    values = {
        "board": board,
        "discipline": board.plan.discipline,
        "view": view,
        "siblings": _siblings(board, site.boards),
        "columns": [column.column for column in columns],
        # columns of cost that some model has a value in, behind all others
        "costs": [f.name for f in fields(RunCost) if any(getattr(r.cost, f.name) is not None for r in rows)],
        "rows": rows,
        "graded": any(cell.receipt or cell.reported for cell in cells),
        "marks": marks_of(cells),
        "reported": sorted({(c.reported.source, c.reported.link) for c in cells if c.reported}),
        "finding": finding(board, models),
        "figures": list(view.figures(board, board.models[: view.models_drawn], models)),
        "sections": sections,
        "section_paths": paths,
        "outcome_names": [name.value for name in Outcome if any(name in total for _, total in outcomes)],
        "outcomes": outcomes,
    }
    files = (file for part in sections if part.rows for file in table_files(paths[part.anchor], part))
    yield Draft(board.plan.page, "board/page", values, tuple(files))


def _row(
    site: Gathered,
    board: Board,
    place: Place,
    columns: Sequence[ColumnScores],
    reported: ReportedModels,
) -> BoardRow:
    """The row of a model of the board, or of a published model, which has reported figures only."""
    published, model = place.reported, place.model
    figures = published.figures if published else reported.filled.get(model, {})
    cells = tuple(
        cell(
            column,
            model,
            marked=bool(reported.columns),
            reported=figures.get(column.column.id),
            missing=missing_suites(board, column.column, model),
        )
        for column in columns
    )
    info = published.info if published else site.models[model]
    cost = run_cost(board.files.get(model, ()), info.price)
    if published:
        return BoardRow(info, place, cells, cost)
    part = ", ".join(filter(None, (board.part_run(model), board.samples_run(model))))
    return BoardRow(info, place, cells, cost, board.open_units(model), part)


def missing_suites(board: Board, column: Column, model: str) -> str:
    """The sets that a mean over several lacks of a model, in words; empty where it lacks none."""
    have = {file.suite for file in board.files.get(model, ()) if file.units}
    missing = [suite for suite in column.suites if suite not in have]
    if len(column.suites) == 1 or len(missing) == len(column.suites):
        return ""
    return ", ".join(set_title(suite.partition("/")[2].removeprefix("core-")) for suite in missing)


def _siblings(board: Board, boards: Sequence[Board]) -> list[Link]:
    """Each by its title, behind the name of its discipline where that differs from the heading."""
    links = [
        Link(
            plan.title if heading_of(sibling) == plan.discipline else f"{plan.discipline}, {plan.title}",
            plan.page,
        )
        for sibling in boards
        for plan in (sibling.plan,)
        if heading_of(sibling) == heading_of(board)
    ]
    return links if len(links) > 1 else []
