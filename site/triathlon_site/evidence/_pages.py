"""The units of one results file as pages of about 120 kB, and as entries in the lists of other pages."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from markupsafe import Markup

from triathlon_runner.records import RecordedUnit, UnitRecord
from triathlon_runner.unit_pages import model_slug
from triathlon_site.evidence._lists import attempts, attempts_text, task_links, unit_links
from triathlon_site.evidence._unit import unit_view
from triathlon_site.render import Environment

PAGE_CHARACTERS: Final = 120_000
"""More would be slow to load; smaller, a hundred models on every suite have tens of thousands of files."""


def evidence_path(slug: str, suite: str, page: int) -> str:
    """Where one page of evidence lies on the site."""
    return f"evidence/{slug}/{suite_slug(suite)}-{page}.html"


@cache
def suite_slug(suite: str) -> str:
    """The suite's id as a part of a file's name, in lower case; no two suites have the same.

    `loop/core` is `loop-core`. An id that differs from its name in more than the slash gets a hash, so that
    `runtime/Mine` and `runtime/mine` are two files on a disk that does not tell upper from lower case.
    """
    name = re.sub(r"[^a-z0-9.+_-]", "-", suite.lower())
    plain = name == suite.replace("/", "-")
    return name if plain else f"{name}-{hashlib.sha256(suite.encode()).hexdigest()[:6]}"


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Whose evidence it is, and what stands beside it."""

    slug: str
    model: str
    """As it is called."""
    suite: str
    parents: Mapping[str, UnitRecord] = field(default_factory=dict)
    """By task_id: what the model did with the problems that these were evolved from."""
    imported: bool = False
    """Whether others asked the model: its pages are apart from those of what was measured here."""

    @property
    def folder(self) -> str:
        """Where its pages lie."""
        return imported_slug(self.slug) if self.imported else self.slug

    def paths(self, pages: int) -> list[str]:
        """Of so many pages, from the site's root."""
        return [evidence_path(self.folder, self.suite, number) for number in range(1, pages + 1)]

    @property
    def home(self) -> str:
        """The page that names the model, from the site's root."""
        return "imported.html" if self.imported else f"models/{self.slug}.html"

    @property
    def all_tasks(self) -> str:
        """The page that lists all its units."""
        return imported_page(self.slug) if self.imported else f"models/{self.slug}-tasks.html"


def imported_slug(slug: str) -> str:
    """The folder of evidence of a model whose results were imported; no model's own slug holds a `+`."""
    return f"imported+{slug}"


def imported_page(slug: str) -> str:
    """Every unit of a model whose results were imported."""
    return f"imported/{slug}.html"


class EvidenceExtractor:
    """Turns the records of one file into what pages show of them, as `load.Extractor` asks."""

    def __init__(self, environment: Environment, names: Mapping[str, str], *, imported: bool = False) -> None:
        """`names`: of the models, by id; one that is not there is called by its id."""
        self._environment, self._names = environment, names
        self._imported = imported

    def fingerprint(self, model: str) -> str:
        """Imported results have other links on their pages."""
        kind = "imported" if self._imported else "measured"
        return f"{self._environment.fingerprint} {kind} {self._name(model)}"

    def _name(self, model: str) -> str:
        return self._names.get(model, model)

    def __call__(
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> dict[str, str]:
        name = self._name(model)
        source = EvidenceSource(model_slug(model), name, suite, parents, imported=self._imported)
        return extracts(records, self._environment, source, private=private)


LINKS: Final = "links.html"
ATTEMPTS: Final = "attempts.json"


def extracts(
    records: Sequence[UnitRecord], environment: Environment, source: EvidenceSource, *, private: bool = False
) -> dict[str, str]:
    """Every text of one file's records: `LINKS`, `ATTEMPTS`; where texts are kept, also its pages."""
    pages: list[str] = []
    if private or any(isinstance(record, RecordedUnit) for record in records):
        # without texts, each unit leads to the receipt; samples of one task, to one place, are one link
        addresses = [f"{source.home}#{receipt_anchor(source.suite)}"] * len(records)
    else:
        pages, numbers = render_evidence(records, environment, source)
        paths = source.paths(len(pages))
        addresses = [f"{paths[number - 1]}#u{index}" for index, number in enumerate(numbers)]
    tried = attempts(records, addresses)
    if not pages and any(record.sample for record in records):
        links = task_links(records, tried)
    else:
        links = unit_links(records, addresses, source.parents)
    return {
        **{f"{number}.html": page for number, page in enumerate(pages, start=1)},
        LINKS: environment.render("evidence/links", links=links),
        ATTEMPTS: attempts_text(tried),
    }


def receipt_anchor(suite: str) -> str:
    """The id of a suite's receipt on the page of a model."""
    return f"receipt-{re.sub(r'[^a-z0-9]+', '-', suite.lower())}"


def render_evidence(
    records: Sequence[UnitRecord], environment: Environment, source: EvidenceSource
) -> tuple[list[str], list[int]]:
    """The pages, and for each record the number of its page. Record i has the anchor `u<i>`."""
    article = environment.macro("evidence/unit", "article")
    articles = [
        article(unit_view(record, f"u{index}", source.parents)) for index, record in enumerate(records)
    ]
    groups = list(_grouped(articles))
    names = [path.rpartition("/")[2] for path in source.paths(len(groups))]
    pages = [
        environment.render(
            "evidence/page", root="../../", source=source, articles=group, page=number, names=names
        )
        for number, group in enumerate(groups, 1)
    ]
    return pages, [number for number, group in enumerate(groups, 1) for _ in group]


def _grouped(articles: Sequence[Markup]) -> Iterator[list[Markup]]:
    """The articles of each page."""
    group: list[Markup] = []
    size = 0
    for article in articles:
        if group and size + len(article) > PAGE_CHARACTERS:
            yield group
            group, size = [], 0
        group.append(article)
        size += len(article)
    if group:
        yield group
