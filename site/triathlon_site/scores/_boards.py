"""Which boards and columns there are: the catalogue's metrics, grouped by discipline and kind of data."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

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


AVERAGED: Final = ("humaneval", "seeds", "difficult", "creative", "subtle", "combine", "tool_use")
"""The sets of the EvoEval average: the seeds and the five semantic-altering ones (EvoEval, section 3)."""


def _columns(suites: Sequence[SuiteEntry]) -> list[Column]:
    """Each metric of each suite; for evolved first the mean of pass@1 over the averaged sets."""
    if suites[0].discipline != Discipline.EVOLVED:
        own = [_column(suite, metric, len(suites) > 1) for suite in suites for metric in suite.metrics]
        first = next((column for column in own if column.headline), own[0])
        return [replace(column, headline=column is first) for column in own]
    parts = tuple(
        (suite.id, metric)
        for suite in suites
        for metric in suite.metrics
        if metric.headline and set_name(suite.id) in AVERAGED
    )
    mean = Column(
        "evolved:average", "average", "EvoEval, section 3: mean over six sets", parts, headline=True
    )
    sets = [
        Column(
            f"{suite.id}:{metric.id}",
            set_name(suite.id).replace("_", " "),
            f"{suite.title} ({metric.source})",
            ((suite.id, metric),),
            baseline=set_name(suite.id) in {"seeds", "humaneval"},
        )
        for suite in suites
        for metric in suite.metrics
    ]
    return [mean, *sets] if parts else sets


def set_name(suite: str) -> str:
    """`evolved/core-tool_use` → `tool_use`."""
    return suite.partition("/")[2].removeprefix("core-")


def _column(suite: SuiteEntry, metric: Metric, several: bool) -> Column:
    return Column(
        f"{suite.id}:{metric.id}",
        f"{metric.title} ({set_name(suite.id)})" if several else metric.title,
        metric.source,
        ((suite.id, metric),),
        headline=metric.headline,
        baseline=metric.id.startswith("pass"),
    )
