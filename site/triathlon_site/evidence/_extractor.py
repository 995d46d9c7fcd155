"""What pages show of one results file: its list of tasks, and packs of what was written for each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from triathlon_runner.records import RecordedUnit, UnitRecord
from triathlon_runner.unit_pages import evidence_page, model_slug
from triathlon_site.evidence._article import Article, Articles, render_tasks
from triathlon_site.evidence._lists import (
    Attempt,
    ListedTask,
    attempts,
    attempts_text,
    by_task,
    ended,
    listed_tasks,
)
from triathlon_site.evidence._packs import in_packs, packed
from triathlon_site.render import Environment
from triathlon_site.render.formats import receipt_anchor

LINKS: Final = "links.html"
ATTEMPTS: Final = "attempts.json"
SUMMARY: Final = "summary.json"
INDEX: Final = "index.js"
LINES: Final = "lines.jsonl.gz"
"""The file of results itself, as a download: whoever reads a file puts it beside the packs."""


def imported_slug(slug: str) -> str:
    """The folder of evidence of a model whose results were imported; no model's own slug holds a `+`."""
    return f"imported+{slug}"


def imported_page(slug: str) -> str:
    """The page of all units of a model whose results were imported."""
    return f"imported/{slug}.html"


def read_summary(text: bytes) -> Mapping[str, Any]:
    """What `Article.summary` said of a file; empty where it said nothing."""
    summary: Mapping[str, Any] = json.loads(text or b"{}")
    return summary


@dataclass(frozen=True)
class EvidenceExtractor:
    """Turns the records of one file into what pages show of them."""

    environment: Environment
    articles: Articles
    imported: bool = False
    """Whether others asked the models: their pages are apart from those of what was measured here."""

    def fingerprint(self) -> str:
        """Of everything that shapes the texts beside the records."""
        return f"{self.environment.fingerprint} {'imported' if self.imported else 'measured'}"

    def __call__(
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> dict[str, str]:
        """`LINKS` and `ATTEMPTS`; of results with texts also `SUMMARY`, `INDEX` and the packs.

        Nothing that a model wrote, nor a task's text, is in what is returned where `private`.
        `parents`: by task_id, what the model did with the problems that these were evolved from.
        """
        slug, tasks = model_slug(model), by_task(records)
        article = self.articles.get(type(records[0]), Article()) if records else Article()
        if any(isinstance(record, RecordedUnit) for record in records):
            receipt = f"models/{slug}.html#{receipt_anchor(suite)}"
            tried = list(attempts(records, receipt, receipt=True))
            return self._lists("recorded", tried, attempts_text(tried))
        page = evidence_page(imported_slug(slug) if self.imported else slug, suite)
        links = list(listed_tasks(tasks, article, parents))
        tried = list(attempts(records, page, receipt=False))
        if private:
            return self._lists("links", [one._replace(reason="") for one in links], attempts_text(tried))
        packs = list(in_packs(render_tasks(tasks, self.environment, article, parents)))
        return {
            **self._lists("links", links, attempts_text(tried)),
            SUMMARY: json.dumps(article.summary(records) or {}, separators=(",", ":")),
            INDEX: packed(_index(records, tasks, article, packs)),
            **{f"{number}.js": packed(pack) for number, pack in enumerate(packs, start=1)},
        }

    def _lists(self, template: str, links: Sequence[ListedTask | Attempt], tried: str) -> dict[str, str]:
        return {LINKS: self.environment.render(f"evidence/{template}", links=links), ATTEMPTS: tried}


def _index(
    records: Sequence[UnitRecord],
    tasks: Mapping[str, Sequence[UnitRecord]],
    article: Article,
    packs: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Of each task its pack, how it ended and what it can be filtered by; of each line its task."""
    number = {task: place for place, pack in enumerate(packs, start=1) for task in pack}
    kinds = {
        task: sorted({str(kind) for one in of_task for kind in (one.outcome, *article.kinds(one))})
        for task, of_task in tasks.items()
    }
    place = {task: row for row, task in enumerate(tasks)}
    return {
        "tasks": [[task, number[task], ended(tasks[task]), kinds[task]] for task in tasks],
        "lines": [place[record.task_id] for record in records],
    }
