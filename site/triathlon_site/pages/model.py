"""The page of one model: its card, its scores, the receipt of each, what others reported or recorded of it.

Where it falls: its largest drops in points, each with a task that is failed. And the page of all its units.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd
from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_runner.records import Outcome
from triathlon_runner.unit_pages import evidence_page, unit_anchor
from triathlon_site.costs import most_of_headline
from triathlon_site.evidence import LINKS, imported_slug
from triathlon_site.exports import badge_of
from triathlon_site.figures import Series, radar
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages._scores import cell, dimensions, marked, score_in, share_of_maximum, why_apart
from triathlon_site.pages._site import Gathered, ModelCard
from triathlon_site.pages.all_models import TABLE, ModelRow
from triathlon_site.pages.board import LINE_KINDS, curve_columns, missing_suites, question_columns, view_of
from triathlon_site.render import Draft, Figure, Page, Section, Value, formats
from triathlon_site.scores import Board, set_title
from triathlon_site.tasks import score_noise, solving_metric
from triathlon_site.uncertainty import DIGITS

MOST_FALLS: Final = 8
MOST_OF_A_KIND: Final = 2
FEWEST_ANSWERS: Final = 50  # about a kind of line, below which its share says little
USUAL: Final = tuple(Outcome)[:-1]  # outcomes that have a column even where no unit ended so


def drafts(site: Gathered, cards: Sequence[ModelCard], rows: Mapping[str, ModelRow]) -> Iterator[Draft]:
    """The pages of these models: one each, and for each with results one of all its units.

    `rows`: by id of a card, its row in the table of all models.
    """
    for card, model in [(one, model) for one in cards for model in one.ids or [one.info.id]]:
        info = card.info if model == card.info.id else site.models[model]
        files = in_catalogue_order(site.files.get(model, ()))
        boards = [board for board in site.boards if model in board.models]
        badge = badge_of(info, boards, site.overalls)
        values = {
            "info": info,
            "card": card,
            "place": rows.get(model),  # none of a snapshot that is not the one of the row
            "columns": TABLE,
            "reported": _reported_numbers(site, card),
            "servers": "; ".join(
                sorted({f.manifest.served_by for f in files if f.manifest and not f.receipt})
            ),
            "boards": [one for board in boards if (one := _model_board(site, board, model))["cells"]],
            "drops": drops_of(model, boards),
            "radar": _radar(model, info.label, boards),
            "recordings": list(beside_recordings(site, info)),
            "outcome_names": [n for n in Outcome if n in USUAL or any(n in file.outcomes for file in files)],
            "files": files,
            "noise": score_noise(files, site.known),
            "badge": badge,
        }
        picture = (Page(badge.path, str(badge.picture)),) if badge else ()
        yield Draft(info.page, "model/page", values, picture)
        if files:
            yield unit_draft(info, files, info.units_page, info.page)


def in_catalogue_order(files: Iterable[FileAggregate]) -> list[FileAggregate]:
    """A suite's variants behind it; suites that are not in the catalogue last."""
    order = {entry.id: place for place, entry in enumerate(catalogue.entries())}
    return sorted(files, key=lambda file: (order.get(file.suite.partition("@")[0], len(order)), file.suite))


def _reported_numbers(site: Gathered, card: ModelCard) -> Section:
    """Every figure of every ranking that has the model, its name there, and the snapshot of a product."""
    rows = []
    for one in card.snapshots:
        for table_id, row in (one.joined.rows if one.joined else {}).items():
            table = site.reported.boards[table_id]
            for column in table.columns:
                if score := row.scores.get(column.id):
                    source = Value(table.title, table.source.as_of, link=table.page)
                    span = Value(formats.span(score.interval, column.maximum))
                    name = Value(row.name, one.label)
                    rows.append((source, Value(column.title), Value(score.text), span, name))
    head = ("Source", "Column", "Score", "95 %", "Named there")
    return Section("Reported by others", "", head, tuple(rows))


def _model_board(site: Gathered, board: Board, model: str) -> dict[str, Any]:
    """One model on one board, under whatever protocol, with figures of it and of those ranked next to it."""
    position = board.models.index(model)
    shown = dict.fromkeys((model, *board.models[max(0, position - 2) : position + 3]))
    cells = [(column.column, found) for column in board.shown if (found := cell(column, model))]
    return {
        "board": board,
        "cells": cells,
        "why_apart": why_apart(found for _, found in cells),
        # the headline and the model's cell in it; where it has none, the suites that it lacks
        "headline": next((pair for pair in cells if pair[0].headline), None),
        "missing": missing_suites(board, board.headline.column, model),
        "figures": list(view_of(board).figures(board, list(shown), site.models)),
        # how much its headline could rise at most if no reply had been cut
        "rise": most_of_headline(board, model),
    }


def _radar(model: str, label: str, boards: Sequence[Board]) -> Figure:
    """Every dimension that the model has; grey: the median of all models, where there are five or more."""
    axes = {name: column for name, column in dimensions(boards, [model]).items() if column.shown(model)}
    own = {name: score for name, column in axes.items() if (score := score_in(column, model))}
    titles = [marked(name, score) for name, score in own.items()]
    series = [Series(label, tuple(100 * score.share for score in own.values()))]
    if axes and all(column.has_ranks for column in axes.values()):
        medians = tuple(100 * column.median / column.column.maximum for column in axes.values())
        series.append(Series("median of all models", medians, muted=True))
    caption = "All dimensions in per cent of their maximum; the ring with a number is the end."
    return Figure(radar(f"All dimensions of {label}", titles, series), caption + why_apart(own.values()))


def unit_draft(
    info: ModelInfo, files: Sequence[FileAggregate], path: str, home: str, *, imported: bool = False
) -> Draft:
    """The page of every unit of a model, under `path`; `home` is the page that it belongs to."""
    order = {name: place for place, name in enumerate(map(str, Outcome))}
    folder = imported_slug(info.slug) if imported else info.slug
    suites = [
        (
            file,
            # outcomes that the records do not list stand last
            sorted(file.outcomes.items(), key=lambda pair: (order.get(pair[0], len(order)), pair[0])),
            Markup(file.extracts.read(LINKS).decode() if file.kept else ""),
            "" if file.kept else evidence_page(folder, file.suite),
        )
        for file in files
    ]
    values = {"info": info, "suites": suites, "home": home, "imported": imported}
    return Draft(path, "model/units", values)


def beside_recordings(site: Gathered, info: ModelInfo) -> Iterator[dict[str, Any]]:
    """Each suite of the model that was measured here and recorded by others."""
    measured = {file.suite: file for file in site.files.get(info.id, ())}
    for recording in (one for one in site.results.beside if one.model == info.id):
        here, entry = measured.get(recording.suite), site.known.find(recording.suite)
        if here is None or entry is None or not here.units:
            continue
        metric = solving_metric(entry)
        columns = [file.columns for file in (here, recording)]
        scores = [pd.Series(of.scores[metric.id], of.task).groupby(level=0).mean() for of in columns]
        both = scores[0].index.intersection(scores[1].index)
        difference = (scores[0][both] - scores[1][both]).sort_index()
        page = "" if here.kept else evidence_page(info.slug, here.suite)
        links = {
            task: f"{page}#{unit_anchor(task)}" if page else info.units_page for task in difference.index
        }
        shown = [
            formats.score(file.metrics[metric.id].score(metric), metric.maximum) for file in (here, recording)
        ]
        yield {
            "suite": here.suite,
            "recording": recording,
            "metric": metric.title,
            "measured": shown[0],
            "recorded": shown[1],
            "tasks": len(both),
            # tasks with a higher score here, and with a lower one, with the address of each
            "gained": [(task, links[task]) for task in difference[difference > 0].index],
            "lost": [(task, links[task]) for task in difference[difference < 0].index],
        }


class Drop(NamedTuple):
    """Two scores of one model, in per cent, of which the second is lower."""

    first: str  # what was asked at first, in words
    before: float
    second: str
    after: float
    task: str  # one that is failed in the second; empty where none is known
    path: str  # of its evidence

    @property
    def points(self) -> float:
        """Rounded as the two scores are: a drop has the same digits as on its board."""
        return round(self.before - self.after, DIGITS)


def drops_of(model: str, boards: Sequence[Board]) -> list[Drop]:
    """The largest drops of a model, the largest first."""
    drops: list[Drop] = []
    for board in boards:
        for found in (_loops, _sets, _lines):
            falls = sorted(found(board, model), key=lambda drop: -drop.points)
            drops += [drop for drop in falls[:MOST_OF_A_KIND] if drop.points > 0]
    return sorted(drops, key=lambda drop: (-drop.points, drop.second))[:MOST_FALLS]


def _file(board: Board, model: str, suite: str) -> FileAggregate:
    return next(file for file in board.files[model] if file.suite == suite)


def _loops(board: Board, model: str) -> Iterator[Drop]:
    """From the first loop to the last, with a task that was lost between them."""
    curve = curve_columns(board)
    if not curve:
        return
    before, after = (share_of_maximum(column, model) for column in (curve[0], curve[-1]))
    if before is None or after is None:
        return
    file = _file(board, model, curve[0].column.suites[0])
    held = (file.columns.scores[column.column.parts[0][1].id] for column in (curve[0], curve[-1]))
    units = zip(file.columns.task, *held, strict=True)
    task = next((task for task, at_first, at_last in units if at_first > at_last), "")
    addresses = {task: address for task, _, address in file.attempts}
    first = f"{board.plan.discipline}, {board.plan.title}: loop 1"
    yield Drop(first, before, f"loop {len(curve)}", after, task, addresses.get(task, ""))


def _sets(board: Board, model: str) -> Iterator[Drop]:
    """From the problems that a set was evolved from to the set."""
    single = {c.column.suites[0]: c for c in board.shown if len(c.column.suites) == 1}
    for entry in board.plan.suites:
        if not entry.seeds or entry.id in entry.seed_suites or entry.id not in single:
            continue
        known = (suite for suite in reversed(entry.seed_suites) if suite in single)
        seeds = next((suite for suite in known if single[suite].shown(model)), "")
        before = share_of_maximum(single[seeds], model) if seeds else None
        after = share_of_maximum(single[entry.id], model)
        if before is None or after is None:
            continue
        # a task that is failed though what it was evolved from is solved, else one that is failed
        old, new = (_file(board, model, suite) for suite in (seeds, entry.id))
        solved = {task.task_id for task in old.tasks if task.outcome == Outcome.PASSED}
        failed = [task for task in new.tasks if task.outcome != Outcome.PASSED]
        lost = [task.task_id for task in failed if task.parents and solved >= {*task.parents}]
        task = next(iter(lost or [task.task_id for task in failed]), "")
        addresses = {task: address for task, _, address in new.attempts}
        names = [set_title(suite.partition("/")[2].removeprefix("core-")) for suite in (seeds, entry.id)]
        first = f"{board.plan.discipline}: {names[0]}"
        yield Drop(first, before, names[1], after, task, addresses.get(task, ""))


def _lines(board: Board, model: str) -> Iterator[Drop]:
    """From all lines to the kind of line that a question is answered worst about."""
    for file in board.files[model]:
        if "lines" not in file.summary:
            continue
        tried = ((task, path) for task, outcome, path in file.attempts if outcome != Outcome.PASSED)
        task, path = next(tried, ("", ""))
        for place, column in enumerate(question_columns(board)[:3]):
            counts = {kind: file.summary["lines"][kind][place] for kind in LINE_KINDS}
            shares = {kind: 100 * r / of for kind, (r, of) in counts.items() if of >= FEWEST_ANSWERS}
            whole = share_of_maximum(column, model)
            if shares and whole is not None:
                worst = min(shares, key=lambda kind: shares[kind])
                about = f"{board.plan.discipline}, {board.plan.title}"
                first = f"{about}: {column.column.title.lower()}, all lines"
                yield Drop(first, whole, LINE_KINDS[worst], shares[worst], task, path)
