"""What is computed from published tables, by the columns that they have: sentences, sections, figures."""

from collections.abc import Iterator
from typing import Final

from triathlon_runner.llm import ModelKind
from triathlon_site import analysis
from triathlon_site.figures import DotRow, Point, Series, arrows, bars, curves, scatter
from triathlon_site.pages._shifts import shift_sentences
from triathlon_site.pages.board.evolved import changes_by_kind, drops_by_model, old_against_new
from triathlon_site.published import PublishedColumn, PublishedTable
from triathlon_site.render import Figure, Section
from triathlon_site.sensitivity import sensitivity

COLOURED: Final = 5
MOST_BARS: Final = 16
KINDS: Final = {"1": "instruct", "0": "base"}
"""By the cell of the column `prompted`."""
OLD: Final = "humaneval_plus"


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
    rows = [
        DotRow(row.name, (row.value(old.id), row.value(new.id)))
        for row in table.models
        if new.id in row.scores
    ]
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
    times = 100 if base.maximum == 1 else 1
    points = [
        Point(row.name, times * row.scores[base.id].value, row.scores[score.id].value)
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
    svg = bars(f"{', '.join(titles)} and {score.title}", titles, score.title, rows)
    return Figure(
        svg, f"Bars: {', '.join(titles)}; line: {score.title}; ordered by {order.title}, in per cent."
    )
