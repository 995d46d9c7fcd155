"""Published results: an overview, a page for each paper or board; our measurements beside them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_site import analysis
from triathlon_site.agreement import sensitivity
from triathlon_site.exports import latex_table, published_files, table_files
from triathlon_site.figures import Series, bars, curves
from triathlon_site.models import Models
from triathlon_site.pages import reproduced
from triathlon_site.pages._scores import score_in
from triathlon_site.pages._site import Gathered, ModelSnapshot
from triathlon_site.pages.board import changes_by_kind, drops_by_model, shift_sentences
from triathlon_site.pages.reproduced import reproduced_page
from triathlon_site.published import ONLY_PUBLISHED, SAME, PublishedTable
from triathlon_site.ranking import MEASURED, UNITS_ARE_OPEN, Score
from triathlon_site.render import Draft, Figure, Link, Page, Section, Value, formats
from triathlon_site.reproduction_plan import PAPERS
from triathlon_site.scores import Board, ColumnScores
from triathlon_site.uncertainty import Difference

TRUTH: Final = "truth.html"  # how true are our measurements?
COLOURED: Final = 5
MOST_BARS: Final = 16


def drafts(site: Gathered) -> Iterator[Draft | Page]:
    """The overview of published results, a page for each paper or board, and the tables as files.

    And a page of our measurements, where a model was measured for which others report the same quantity.
    """
    if not site.published.sources:
        return
    if found := list(pairs(site)):
        head = ("Model", "Quantity", "Measured here", "Reported", "By", "Difference", "Agrees")
        beside = Section("Measured here and reported by others", "", head, tuple(map(_beside, found)))
        quantised = any(pair.snapshot.info.bits for pair in found)
        yield Draft(TRUTH, "truth/page", {"pairs": beside, "quantised": quantised})
    pages: dict[str, list[PublishedTable]] = {}
    for table in site.reported.tables:
        pages.setdefault(table.page, []).append(table)
    papers = list(reproduced.papers(site))
    siblings = [Link("All sources", "published.html")]
    siblings += [Link(tables[0].title, page) for page, tables in pages.items()]
    siblings += [Link(f"{PAPERS[name].title}, reproduced", reproduced_page(name)) for name, _ in papers]
    values = {"siblings": siblings, "boards": site.reported.boards}
    yield Draft("published.html", "published/page", values)
    for page, tables in pages.items():
        yield _paper(site, page, tables, siblings)
    for name, own in papers:
        yield reproduced.draft(site, name, own, siblings)
    yield from published_files(site.published)


def _beside(pair: "Pair") -> tuple[Value, ...]:
    """The row of one figure of ours and one that others report."""
    info, own, theirs, difference = pair.snapshot.info, pair.own, pair.reported, pair.difference
    known, maximum = theirs.interval.known, own.maximum
    ends = (formats.signed(end, maximum) for end in (difference.interval.low, difference.interval.high))
    return (
        Value(info.label, pair.served, link=info.page),
        Value(pair.column),
        Value(
            formats.known_range(own.value, own.upper, maximum),
            f"{formats.span(own.interval, maximum)}, {own.tasks} tasks",
            link=own.link,
        ),
        Value(formats.score(theirs.value, maximum), formats.span(theirs.interval, maximum) if known else ""),
        Value(theirs.source, theirs.date, link=theirs.link),
        Value(
            formats.signed(difference.value, maximum),
            " to ".join(ends) + ("" if known else ", of ours alone"),
        ),
        Value({None: "not known", True: "yes", False: "no"}[pair.agrees]),
    )


def _paper(site: Gathered, page: str, tables: Sequence[PublishedTable], siblings: list[Link]) -> Draft:
    sections = [
        (section, f"data/published-{table.id}-{section.anchor}.csv")
        for table in tables
        for section in analyses(table, site.published_infos[table.id])
    ]
    columns = [(table, column) for table in tables for column in table.columns]
    reasons = ((column, ONLY_PUBLISHED.get((table.id, column.id))) for table, column in columns)
    values = {
        "title": tables[0].title,
        "siblings": siblings,
        "tables": tables,
        "remarks": {table.id: list(remarks(table)) for table in tables},
        "figures": [figure for table in tables for figure in figures(table)],
        "sections": sections,
        "only_here": [(column.title, reason) for column, reason in reasons if reason],
    }
    files = [file for section, path in sections for file in table_files(path, section)]
    return Draft(page, "published/tables", values, (*files, *map(_latex, tables)))


def _latex(table: PublishedTable) -> Page:
    ranks = ("Rank",) if table.headline else ()
    head = (*ranks, "Model", *(c.title for c in table.columns), *table.derived)
    rows = []
    for place, row in enumerate(table.rows):
        best = row.scores.get(table.headline.id) if table.headline else None
        rank = (formats.rank(best.rank if best else None),) if table.headline else ()
        own = [table.text(row, column) or formats.NONE for column in table.columns]
        rows.append((*rank, row.name, *own, *(cells[place].text for cells in table.derived.values())))
    title = f"{table.title}, {table.source.part}, published ({table.source.as_of})"
    return Page(f"data/published-{table.id}.tex", latex_table(title, head, rows))


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
        if (found := compared.correlation).n > 2:
            yield (
                f"Spearman between the ranks {base.title} and the mean ranks in the other columns:"
                f" {found.spearman:.3f}, over {found.n} models."
            )


def analyses(table: PublishedTable, models: Models) -> Iterator[Section]:
    """EvoEval's analyses of a ranking that has the columns of its sets; `models` by their names in it."""
    columns = {column.id: column for column in table.columns if column.ranked}
    if not (table.headline and columns.keys() >= {analysis.SEED, *analysis.SEMANTIC_ALTERING}):
        return
    scores = {name: table.scores(column) for name, column in columns.items()}
    names = (row.name for row in table.models)
    rows = {m: {name: of[m] for name, of in scores.items() if m in of} for m in names}
    titles = {name: column.title for name, column in columns.items()}
    kinds = {row.name: row.kind for row in table.models if row.kind}
    yield from drops_by_model(rows, titles, models)
    sets = [name for name in (*analysis.SEMANTIC_PRESERVING, "subtle") if name in columns]
    yield from changes_by_kind({titles[name]: analysis.change_by_kind(rows, kinds, name) for name in sets})


def figures(table: PublishedTable) -> Iterator[Figure]:
    """Curves of counts; several scores of few models as bars."""
    score = table.headline
    if score is None:
        return
    models = sorted(table.models, key=lambda row: -(row.value(score.id) or 0))
    lines = [(row.name, row.curve) for row in models if row.curve]
    if lines:
        drawn = [Series(name, curve, muted=place >= COLOURED) for place, (name, curve) in enumerate(lines)]
        caption = (
            f"Tasks that still pass in each loop, in per cent: the {COLOURED} best of {len(lines)} models"
            " with published curves, the others in grey."
        )
        yield Figure(curves("Share of tasks that still pass after each loop", drawn), caption)
    columns = [c for c in table.columns if c.ranked and c is not score and c.maximum == score.maximum == 100]
    if len(columns) > 1 and len(models) <= MOST_BARS:
        # ordered by the average where the table has one (figure 4 of REval), else by the headline
        order = next((column for column in columns if column.id == "average"), score)
        rows = [
            (row.name, [row.value(c.id) for c in (*columns, score)])
            for row in sorted(table.models, key=lambda row: -(row.value(order.id) or 0))
        ]
        titles = [column.title for column in columns]
        svg = bars(f"{', '.join(titles)} and {score.title}", titles, score.title, rows)
        caption = f"Bars: {', '.join(titles)}; dots: {score.title}; ordered by {order.title}, in per cent."
        yield Figure(svg, caption)


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure of ours and one that others report for the same model and quantity."""

    snapshot: ModelSnapshot
    column: str  # discipline and title
    own: Score
    served: str  # how the model was served here, by its manifests
    reported: Score

    @property
    def difference(self) -> Difference:
        """Ours minus theirs, on the column's scale; its interval is of ours alone where theirs has none."""
        return self.own.minus(self.reported)

    @property
    def agrees(self) -> bool | None:
        """Whether the difference is within both uncertainties; None where theirs is not known."""
        return not self.difference.sure if self.reported.interval.known else None


def pairs(site: Gathered) -> Iterator[Pair]:
    """Every measured score of an official set with each figure that others report for it, by model.

    None while units are open: what is missing may be what the model fails.
    """
    official = (board for board in site.boards if board.plan.family == "official")
    columns = [(board, column) for board in official for column in board.columns if column.column.id in SAME]
    for snapshot in (one for card in site.cards for one in card.snapshots if one.joined):
        for board, column in columns:
            for model in snapshot.ids:
                yield from _pairs(site, snapshot, model, board, column)


def _pairs(
    site: Gathered, snapshot: ModelSnapshot, model: str, board: Board, column: ColumnScores
) -> Iterator[Pair]:
    score = score_in(column, model)
    if score is None or score.grade != MEASURED or score.apart == UNITS_ARE_OPEN or snapshot.joined is None:
        return
    manifests = [f.manifest for f in board.files[model] if f.suite in column.column.suites and f.manifest]
    for place in SAME[column.column.id]:
        if figure := site.reported.figure(snapshot.joined, (place,)):
            yield Pair(
                snapshot,
                f"{board.plan.discipline}: {column.column.title}",
                score,
                "; ".join(sorted({manifest.served_by for manifest in manifests})),
                figure.scaled(score.maximum),
            )
