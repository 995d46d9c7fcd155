"""Every unit of a model with a link to its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from triathlon_runner.records import Outcome, Receipt
from triathlon_site.evidence import LINKS
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.render import Draft, PageContext


@dataclass(frozen=True)
class SuiteUnits:
    """The units of one suite."""

    suite: str
    outcomes: list[tuple[str, int]]
    links: Markup
    """A list item for each unit, rendered when the file was read."""
    receipt: Receipt | None
    """Of recorded results: where the recording is."""


@dataclass(frozen=True)
class UnitsContext(PageContext):
    """The template's data for the page of all units of a model."""

    template: ClassVar[str] = "model/units"
    info: ModelInfo
    suites: list[SuiteUnits]
    home: str
    """The page that it belongs to."""
    imported: bool


def unit_draft(
    info: ModelInfo, files: Sequence[FileAggregate], path: str, home: str, *, imported: bool = False
) -> Draft:
    """The page of every unit of a model, under `path`; `home` is the page that it belongs to."""
    suites = [
        SuiteUnits(
            file.suite, _ordered(file.outcomes), Markup(file.extracts.read(LINKS).decode()), file.receipt
        )
        for file in files
    ]
    return Draft(path, UnitsContext(info, suites, home, imported))


def _ordered(outcomes: dict[str, int]) -> list[tuple[str, int]]:
    """Outcomes and their numbers in the order of the records; outcomes that the records do not list, last."""
    order = {name.value: place for place, name in enumerate(Outcome)}
    return sorted(outcomes.items(), key=lambda outcome: (order.get(outcome[0], len(order)), outcome[0]))
