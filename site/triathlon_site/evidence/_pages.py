"""The units of one results file as pages of about 120 kB, and as entries in the lists of other pages."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from markupsafe import Markup

from triathlon_runner.records import RecordedUnit, UnitRecord
from triathlon_runner.unit_pages import model_slug
from triathlon_site.evidence._lists import attempts, attempts_text, task_links, unit_links
from triathlon_site.evidence._words import changed_words
from triathlon_site.render import Environment
from triathlon_site.render.formats import receipt_anchor

PAGE_CHARACTERS: Final = 120_000
"""More would be slow to load; smaller, a hundred models on every suite have tens of thousands of files."""
LINKS: Final = "links.html"
ATTEMPTS: Final = "attempts.json"


@dataclass(frozen=True, slots=True)
class Article:
    """How a unit is shown."""

    template: str = "evidence/fields"
    """Has a macro `content`, which takes the record, the records of the problems that it was evolved from,
    `rows`, and `changed_words`."""
    rows: Callable[[Any], Iterable[Any]] = lambda _record: ()
    """From the record to the rows of a table."""


Articles = Mapping[type[UnitRecord], Article]
"""By type of record; units of other types are shown field by field."""


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

    def paths(self, pages: int) -> list[str]:
        """Of so many pages, from the site's root."""
        folder = imported_slug(self.slug) if self.imported else self.slug
        return [evidence_path(folder, self.suite, number) for number in range(1, pages + 1)]

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


@dataclass(frozen=True)
class EvidenceExtractor:
    """Turns the records of one file into what pages show of them."""

    environment: Environment
    articles: Articles
    names: Mapping[str, str]
    """Of the models, by id; one that is not there is called by its id."""
    imported: bool = False

    def fingerprint(self, model: str) -> str:
        """Of everything that shapes the texts of a model beside the records."""
        kind = "imported" if self.imported else "measured"
        return f"{self.environment.fingerprint} {kind} {self.names.get(model, model)}"

    def __call__(
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> dict[str, str]:
        """`LINKS` and `ATTEMPTS`, and the pages: none of the latter of recorded results and where `private`.

        `parents`: by task_id, what the model did with the problems that these were evolved from.
        """
        name = self.names.get(model, model)
        source = EvidenceSource(model_slug(model), name, suite, parents, self.imported)
        pages: list[str] = []
        if private or any(isinstance(record, RecordedUnit) for record in records):
            # without texts, each unit leads to the receipt; samples of one task, to one place, are one link
            addresses = [f"{source.home}#{receipt_anchor(suite)}"] * len(records)
        else:
            pages, numbers = render_evidence(records, self.environment, self.articles, source)
            paths = source.paths(len(pages))
            addresses = [f"{paths[number - 1]}#u{index}" for index, number in enumerate(numbers)]
        tried = list(attempts(records, addresses))
        one_a_task = not pages and any(record.sample for record in records)
        links = task_links(records, tried) if one_a_task else unit_links(records, addresses, parents)
        return {
            **{f"{number}.html": page for number, page in enumerate(pages, start=1)},
            LINKS: self.environment.render("evidence/links", links=links),
            ATTEMPTS: attempts_text(tried),
        }


def render_evidence(
    records: Sequence[UnitRecord], environment: Environment, shown_by: Articles, source: EvidenceSource
) -> tuple[list[str], list[int]]:
    """The pages, and for each record the number of its page. Record i has the anchor `u<i>`.

    `records`: of one results file, and so of one type.
    """
    article = environment.macro("evidence/unit", "article")
    shown = shown_by.get(type(records[0]), Article()) if records else Article()
    content = environment.macro(shown.template, "content")
    articles = []
    for index, record in enumerate(records):
        parents = [source.parents.get(name) for name in getattr(record, "parents", ())]
        seeds = [parent for parent in parents if isinstance(parent, type(record))]
        shown_content = content(record, seeds, [*shown.rows(record)], changed_words)
        articles.append(article(record, f"u{index}", shown_content))
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
    for article in articles:
        if group and sum(map(len, group)) + len(article) > PAGE_CHARACTERS:
            yield group
            group = []
        group.append(article)
    if group:
        yield group
