"""Which boards and columns there are: the catalogue's metrics, grouped by discipline and kind of data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from triathlon_runner.metrics import Metric
from triathlon_runner.records import Discipline
from triathlon_runner.suites import SuiteEntry

Family = Literal["core", "official"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a board: a metric of one suite, or its mean over several."""

    id: str
    title: str
    source: str
    parts: tuple[tuple[str, Metric], ...]
    """(suite id, metric); the score is the plain mean over the parts."""
    headline: bool = False
    baseline: bool = False
    """The plain pass@1 that rank shifts are counted from."""

    @property
    def maximum(self) -> float:
        return self.parts[0][1].maximum


@dataclass(frozen=True, slots=True)
class BoardPlan:
    """The suites and columns of one board."""

    id: str
    discipline: Discipline
    family: Family
    suites: tuple[SuiteEntry, ...]
    columns: tuple[Column, ...]

    @property
    def headline(self) -> Column:
        return next((column for column in self.columns if column.headline), self.columns[0])


def plan_boards(catalogue: Sequence[SuiteEntry]) -> tuple[BoardPlan, ...]:
    """One board a discipline and family, variants aside."""
    boards = []
    for discipline in Discipline:
        for family in ("core", "official"):
            suites = tuple(
                entry
                for entry in catalogue
                if entry.discipline == discipline
                and entry.core == (family == "core")
                and entry.variant_of is None
            )
            if suites:
                columns = tuple(_columns(suites))
                boards.append(BoardPlan(f"{discipline}-{family}", discipline, family, suites, columns))
    return tuple(boards)


def _columns(suites: Sequence[SuiteEntry]) -> list[Column]:
    """Each metric of each suite; with several suites, first the mean of the headline metric over them."""
    if len(suites) == 1:
        return [_column(suites[0], metric, metric.title, metric.headline) for metric in suites[0].metrics]
    parts = tuple((suite.id, metric) for suite in suites for metric in suite.metrics if metric.headline)
    titled = [(suite, metric) for suite in suites for metric in suite.metrics]
    own = [_column(suite, metric, f"{suite.title}: {metric.title}", False) for suite, metric in titled]
    if not parts:
        return own
    mean = Column(f"{suites[0].discipline}:mean", "Mean", "mean over the sets", parts, headline=True)
    return [mean, *own]


def _column(suite: SuiteEntry, metric: Metric, title: str, headline: bool) -> Column:
    return Column(
        f"{suite.id}:{metric.id}",
        title,
        metric.source,
        ((suite.id, metric),),
        headline=headline,
        baseline="pass" in metric.id,
    )
