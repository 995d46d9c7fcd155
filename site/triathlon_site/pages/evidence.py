"""A page for each file of results: its tasks, how each ended, and what was written for one of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from triathlon_runner.unit_pages import evidence_page, lines_page, suite_slug
from triathlon_site.evidence import LINKS, imported_page, imported_slug
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.pages._cards import ModelCard
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.imported import PATH, imported_files
from triathlon_site.render import Draft, PageContext


@dataclass(frozen=True)
class EvidenceContext(PageContext):
    """The template's data for one model on one suite."""

    template: ClassVar[str] = "evidence/page"
    info: ModelInfo
    file: FileAggregate
    home: str
    """The page that it belongs to."""
    all_tasks: str
    """The page of all units of the model."""
    tasks: Markup
    """A list item for each task."""
    packs: str
    """The folder of the packs beside the page; empty where texts are private."""
    lines: str
    """The download of the results file."""
    others: list[tuple[str, str]]
    """Folder and name of the other models whose units can stand beside these."""
    imported: bool


def drafts(site: Gathered, cards: Sequence[ModelCard]) -> Iterator[Draft]:
    """The pages of these models' measured results."""
    for model in (model for card in cards for model in card.ids):
        info = site.models[model]
        for file in site.files.get(model, ()):
            if not file.kept:
                others = [other for other in site.results.files if other.suite == file.suite]
                yield _draft(site, info, file, info.slug, others)


def imported_drafts(site: Gathered) -> Iterator[Draft]:
    """The pages of imported results."""
    files = list(imported_files(site.imported))
    for file in files:
        info = site.models[file.model]
        yield _draft(site, info, file, imported_slug(info.slug), [])


def _draft(
    site: Gathered, info: ModelInfo, file: FileAggregate, folder: str, others: Sequence[FileAggregate]
) -> Draft:
    imported = folder != info.slug
    beside = [site.models[other.model] for other in others if other.model != info.id and other.has_lines]
    context = EvidenceContext(
        info=info,
        file=file,
        home=PATH if imported else info.page,
        all_tasks=imported_page(info.slug) if imported else info.units_page,
        tasks=Markup(file.extracts.read(LINKS).decode()),
        packs=suite_slug(file.suite) if file.has_lines else "",
        lines=lines_page(folder, file.suite),
        others=[(other.slug, other.label) for other in beside],
        imported=imported,
    )
    return Draft(evidence_page(folder, file.suite), context)
