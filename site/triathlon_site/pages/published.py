"""Published results: an overview, a page for each paper or board; our measurements beside them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.llm import ModelKind
from triathlon_site import analysis
from triathlon_site.agreement import sensitivity
from triathlon_site.exports import latex_table, published_files, table_files
from triathlon_site.figures import DotRow, Point, Series, arrows, bars, curves, scatter
from triathlon_site.load import MEASURED
from triathlon_site.models import ModelInfo
from triathlon_site.pages import reproduced
from triathlon_site.pages._scores import ShownScore, receipt_path
from triathlon_site.pages._site import Gathered, ModelSnapshot
from triathlon_site.pages.board import changes_by_kind, drops_by_model, old_against_new, shift_sentences
from triathlon_site.pages.reproduced import reproduced_page
from triathlon_site.published import ONLY_PUBLISHED, SAME, JoinedModel, PublishedColumn, PublishedTable
from triathlon_site.ranking import percentiles
from triathlon_site.render import Draft, Figure, Link, Page, Section, formats
from triathlon_site.reproduction_plan import PAPERS
from triathlon_site.scores import Board, ColumnScores, Score, plan_boards
from triathlon_site.uncertainty import Interval

TRUTH: Final = "truth.html"
"""How true are our measurements?"""
COLOURED: Final = 5
MOST_BARS: Final = 16
KINDS: Final = {"1": "instruct", "0": "base"}
"""By the cell of the column `prompted`."""
OLD: Final = "humaneval_plus"


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The overview of published results, a page for each paper or board, and the tables as files.

    And a page of our measurements, where a model was measured for which others report the same quantity.
    """
    if not site.published:
        return
    if found := list(pairs(site)):
        yield Draft(TRUTH, "truth/page", {"pairs": found})
    boards = site.reported.boards
    pages: dict[str, list[PublishedTable]] = {}
    for table in site.reported.tables:
        pages.setdefault(table.page, []).append(table)
    papers = list(reproduced.papers(site, site.published))
    siblings = [Link("All sources", "published.html")]
    siblings += [Link(tables[0].title, page) for page, tables in pages.items()]
    siblings += [Link(f"{PAPERS[name].title}, reproduced", reproduced_page(name)) for name, _ in papers]
    lines = [
        (model, site.published_infos[source, model.rows[source].name], percentile)
        for model, percentile in _joined_lines(site.reported.models, boards)
        for source in list(model.rows)[:1]
    ]
    values = {"siblings": siblings, "boards": boards, "lines": lines, "doubtful": site.published.doubtful}
    yield Draft("published.html", "published/page", values)
    for page, tables in pages.items():
        yield _paper(site, page, tables, siblings)
    for name, own in papers:
        yield reproduced.draft(site, name, own, siblings)
    yield from published_files(site.published)


def _paper(site: Gathered, page: str, tables: Sequence[PublishedTable], siblings: list[Link]) -> Draft:
    infos: dict[str, dict[str, ModelInfo]] = {table.id: {} for table in tables}
    for (table_id, name), info in site.published_infos.items():
        if table_id in infos:
            infos[table_id][name] = info
    sections = []
    for table in tables:
        own = infos[table.id]
        for section in analyses(table):
            # the name of a model in a first cell leads to its page
            rows = (
                (replace(name, link=own[name.text].page) if name.text in own else name, *cells)
                for name, *cells in section.rows
            )
            path = f"data/published-{table.id}-{section.anchor}.csv"
            sections.append((replace(section, rows=tuple(rows)), path))
    columns = [(table, column) for table in tables for column in table.columns]
    reasons = ((column, ONLY_PUBLISHED.get((table.id, column.id))) for table, column in columns)
    values = {
        "title": tables[0].title,
        "siblings": siblings,
        "tables": tables,
        "infos": infos,
        "remarks": {table.id: list(remarks(table)) for table in tables},
        "figures": [figure for table in tables for figure in figures(table)],
        "sections": sections,
        "on_boards": list(_on_boards(site, columns)),
        "only_here": [(column.title, reason) for column, reason in reasons if reason],
    }
    files = [file for section, path in sections for file in table_files(path, section)]
    return Draft(page, "published/tables", values, (*files, *map(_latex, tables)))


def _on_boards(
    site: Gathered, columns: Sequence[tuple[PublishedTable, PublishedColumn]]
) -> Iterator[tuple[str, str, str]]:
    """Title of a column, and title and page of the board that shows its figures beside its own scores.

    The page is empty where nothing was graded here on that board's data.
    """
    plans = [plan for plan in plan_boards(BUILT_IN.entries()) if plan.family == "official"]
    for table, column in columns:
        for plan in plans:
            if any((table.id, column.id) in SAME.get(same.id, ()) for same in plan.columns):
                graded, title = site.board(plan.id), f"{plan.discipline.capitalize()}, {plan.title}"
                yield column.title, title, graded.plan.page if graded else ""


def _latex(table: PublishedTable) -> Page:
    """The table as LaTeX."""
    ranks = ("Rank",) if table.headline else ()
    derived = table.derived
    head = (*ranks, "Model", *(c.title for c in table.columns), *(column.title for column in derived))
    rows = []
    for place, row in enumerate(table.rows):
        best = row.scores.get(table.headline.id) if table.headline else None
        rank = (formats.rank(best.rank if best else None),) if table.headline else ()
        cells = [table.text(row, column) or formats.NONE for column in table.columns]
        rows.append((*rank, row.name, *cells, *(column.text(place) for column in derived)))
    title = f"{table.title}, {table.source.part}, published ({table.source.as_of})"
    return Page(f"data/published-{table.id}.tex", latex_table(title, head, rows))


def _joined_lines(
    models: Sequence[JoinedModel], boards: Mapping[str, PublishedTable]
) -> list[tuple[JoinedModel, float | None]]:
    """By number of sources, then by mean percentile, then by name."""
    shares: dict[tuple[str, str], float] = {}
    for board in boards.values():
        known = board.scores(board.headline) if board.headline else {}
        values = percentiles(list(known.values())).tolist()
        shares |= {(board.id, name): share for name, share in zip(known, values, strict=True)}
    lines: list[tuple[JoinedModel, float | None]] = []
    for model in models:
        own = [shares[key, row.name] for key, row in model.rows.items() if (key, row.name) in shares]
        lines.append((model, sum(own) / len(own) if len(own) > 1 else None))
    return sorted(lines, key=lambda line: (-len(line[0].rows), -(line[1] or 0), line[0].name.lower()))


def remarks(table: PublishedTable) -> Iterator[str]:
    """Sentences below a table: its rank shifts, or how well its order holds under its variants."""
    base, score = table.baseline, table.headline
    if base and score:
        titles = score.title, base.title
        yield from shift_sentences(table.scores(score), table.scores(base), titles)
        rule = f"ties in {base.title} broken by {score.title}, over the rows of the paper’s own table"
        in_paper = [table.scores(column, in_paper=True) for column in (score, base)]
        yield from shift_sentences(in_paper[0], in_paper[1], titles, rule)
    elif base:
        compared = sensitivity(table.scores(base), table.variants)
        if compared.models > 2:
            yield (
                f"Spearman between the ranks {base.title} and the mean ranks in the other columns:"
                f" {compared.spearman:.3f}, over {compared.models} models."
            )


def analyses(table: PublishedTable) -> Iterator[Section]:
    """EvoEval's analyses of a table that has the columns of its sets."""
    columns = {column.id: column for column in table.columns if column.ranked}
    if not columns.keys() >= {analysis.SEED, *analysis.SEMANTIC_ALTERING}:
        return
    scores = {name: table.scores(column) for name, column in columns.items()}
    rows = {
        m: {name: of[m] for name, of in scores.items() if m in of} for m in (r.name for r in table.models)
    }
    titles = {name: column.title for name, column in columns.items()}
    kinds = {row.name: KINDS.get(row.record.get("prompted", ""), "") for row in table.models}
    known: dict[str, ModelKind] = {
        model: "base" if kind == "base" else "instruct" for model, kind in kinds.items() if kind
    }
    yield from drops_by_model(rows, titles)
    names = [name for name in (*analysis.SEMANTIC_PRESERVING, "subtle") if name in columns]
    by_set = {titles[name]: analysis.change_by_kind(rows, known, name) for name in names}
    seed = columns[analysis.SEED]
    figures = [_arrows(table, seed, columns[name]) for name in names if name != "subtle"]
    yield from changes_by_kind(by_set, figures)
    if OLD in columns:
        averages = analysis.evoeval_column(rows)
        yield from old_against_new(scores[OLD], averages, titles[OLD], {m: m for m in rows})


def _arrows(table: PublishedTable, old: PublishedColumn, new: PublishedColumn) -> Figure:
    with_both = (row for row in table.models if new.id in row.scores)
    rows = [DotRow(row.name, (row.value(old.id), row.value(new.id))) for row in with_both]
    svg = arrows(f"{old.title} and {new.title}", (old.title, new.title), rows)
    return Figure(svg, f"From {old.title} to {new.title}, in per cent.")


def figures(table: PublishedTable) -> Iterator[Figure]:
    """Curves of counts, the headline against the baseline, several scores of few models as bars."""
    score, base = table.headline, table.baseline
    if score is None:
        return
    models = sorted(table.models, key=lambda row: -(row.value(score.id) or 0))
    series = [(row.name, row.curve) for row in models if row.curve]
    if series:
        drawn = [Series(name, curve, muted=place >= COLOURED) for place, (name, curve) in enumerate(series)]
        caption = (
            f"Tasks that still pass in each loop, in per cent: the {COLOURED} best of {len(series)} models"
            " with published curves, the others in grey."
        )
        yield Figure(curves("Share of tasks that still pass after each loop", drawn), caption)
    if base:
        yield _against(table, base, score)
    same = [c for c in table.columns if c.ranked and c is not score and c.maximum == score.maximum == 100]
    if len(same) > 1 and len(models) <= MOST_BARS:
        yield _bars(table, same, score)


def _against(table: PublishedTable, base: PublishedColumn, score: PublishedColumn) -> Figure:
    """The headline against the baseline, of the rows that have both."""
    points = [
        Point(row.name, formats.in_unit(row.scores[base.id].value, base.maximum), row.scores[score.id].value)
        for row in table.models
        if base.id in row.scores and score.id in row.scores
    ]
    equal = base.maximum == score.maximum
    svg = scatter(
        f"{score.title} against {base.title}",
        points,
        x_title=base.title,
        y_title=score.title,
        identity=equal,
        y_maximum=score.maximum,
    )
    return Figure(svg, f"{score.title} against {base.title}.{' Dashed: equal scores.' if equal else ''}")


def _bars(table: PublishedTable, columns: list[PublishedColumn], score: PublishedColumn) -> Figure:
    """Ordered by the average where the table has one (figure 4 of REval), else by the headline."""
    order = next((column for column in columns if column.id == "average"), score)
    rows = [
        DotRow(row.name, (*(row.value(c.id) for c in columns), row.value(score.id)))
        for row in sorted(table.models, key=lambda row: -(row.value(order.id) or 0))
    ]
    titles = [column.title for column in columns]
    listed = ", ".join(titles)
    svg = bars(f"{listed} and {score.title}", titles, score.title, rows)
    return Figure(svg, f"Bars: {listed}; line: {score.title}; ordered by {order.title}, in per cent.")


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure of ours and one that others report for the same model and quantity."""

    snapshot: ModelSnapshot
    column: str
    """Discipline and title."""
    own: Score
    maximum: float
    receipt: str
    """Address of the receipt of ours."""
    served: str
    """How the model was served here, by its manifests."""
    reported: ShownScore

    @property
    def difference(self) -> float:
        """Ours minus theirs, on the column's scale."""
        return self.own.middle - self.reported.value

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the difference of two independent figures; None where theirs has none.

        Its arms are the roots of the sums of both figures' squared arms (MOVER: Zou and Donner 2008, equation
        2). Both ran the same tasks, so that it is wider than it need be.
        """
        own, theirs = self.own.interval, self.reported.interval
        if theirs is None or not (own.known and theirs.known):
            return None
        down = math.hypot(self.own.middle - own.low, theirs.high - self.reported.value)
        up = math.hypot(own.high - self.own.middle, self.reported.value - theirs.low)
        return Interval(self.difference - down, self.difference + up)

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within both uncertainties; None where one of them is not known."""
        return None if self.interval is None else self.interval.low <= 0 <= self.interval.high


def pairs(site: Gathered) -> Iterator[Pair]:
    """Every measured score of an official set with each figure that others report for it, by model."""
    columns = [
        (board, column)
        for board in site.boards
        if board.plan.family == "official"
        for column in board.columns
        if column.column.id in SAME
    ]
    for card in site.cards:
        for snapshot in card.snapshots:
            for board, column in columns:
                yield from _pairs(site, snapshot, board, column)


def _pairs(site: Gathered, snapshot: ModelSnapshot, board: Board, column: ColumnScores) -> Iterator[Pair]:
    for model in snapshot.ids:
        score = column.shown(model)
        if score is None or score.grade != MEASURED or snapshot.joined is None:
            continue
        suites = {suite for suite, _ in column.column.parts}
        manifests = [f.manifest for f in board.files[model] if f.suite in suites and f.manifest]
        for place in SAME[column.column.id]:
            if figure := site.reported.figure(snapshot.joined, (place,)):
                yield Pair(
                    snapshot,
                    f"{board.plan.discipline}: {column.column.title}",
                    score,
                    column.column.maximum,
                    receipt_path(column, model),
                    "; ".join(sorted({manifest.served_by for manifest in manifests})),
                    figure.scaled(column.column.maximum),
                )
