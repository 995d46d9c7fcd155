"""What others reported of one model, or recorded beside its measured results."""

from collections.abc import Iterator
from dataclasses import dataclass

from triathlon_runner.unit_pages import evidence_page, unit_anchor
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cards import ModelCard
from triathlon_site.pages._site import Gathered
from triathlon_site.published import PublishedColumn, PublishedScore, PublishedTable
from triathlon_site.render import formats
from triathlon_site.tasks import solving_metric


@dataclass(frozen=True, slots=True)
class ReportedNumber:
    """One figure that others published."""

    table: PublishedTable
    column: PublishedColumn
    score: PublishedScore
    name: str
    """The model's name there."""
    snapshot: str
    """Which snapshot of a product it is of, in words; empty for a model that is no product."""


def reported_numbers(site: Gathered, card: ModelCard) -> Iterator[ReportedNumber]:
    """Every figure of every ranking that has the model, snapshot by snapshot."""
    for one in card.snapshots:
        for table_id, row in (one.joined.rows if one.joined else {}).items():
            table = site.reported.boards[table_id]
            for column in table.columns:
                if score := row.scores.get(column.id):
                    yield ReportedNumber(table, column, score, row.name, one.label)


@dataclass(frozen=True)
class BesideRecording:
    """One suite that was measured here and recorded by others."""

    suite: str
    recording: FileAggregate
    metric: str
    measured: str
    recorded: str
    tasks: int
    """That both have."""
    gained: list[tuple[str, str]]
    """Tasks with a higher score here, with the address of each."""
    lost: list[tuple[str, str]]


def beside_recordings(site: Gathered, info: ModelInfo) -> Iterator[BesideRecording]:
    """Each suite of the model that both have."""
    measured_suites = {file.suite: file for file in site.files.get(info.id, ())}
    for recording in site.results.beside:
        here = measured_suites.get(recording.suite)
        if recording.model != info.id or here is None:
            continue
        entry = next(e for b in site.boards for e in (*b.plan.suites, *b.plan.variants) if e.id == here.suite)
        metric = solving_metric(entry)
        scores = [file.frame.groupby("task")[metric.id].mean() for file in (here, recording)]
        both = scores[0].index.intersection(scores[1].index)
        difference = (scores[0][both] - scores[1][both]).sort_index()
        page = "" if here.kept else evidence_page(info.slug, here.suite)

        def links(tasks: list[str], page: str = page) -> list[tuple[str, str]]:
            return [(task, f"{page}#{unit_anchor(task)}" if page else info.units_page) for task in tasks]

        measured, recorded = (
            formats.score(file.metrics[metric.id].score(metric), metric.maximum) for file in (here, recording)
        )
        yield BesideRecording(
            here.suite,
            recording,
            metric.title,
            measured,
            recorded,
            len(both),
            links(list(difference[difference > 0].index)),
            links(list(difference[difference < 0].index)),
        )
