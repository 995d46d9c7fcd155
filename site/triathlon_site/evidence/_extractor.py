"""What pages show of one results file: its list of tasks, and packs of what was written for each."""

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from triathlon_runner.records import Outcome, RecordedUnit, UnitRecord
from triathlon_runner.unit_pages import evidence_page, model_slug, unit_anchor
from triathlon_site.evidence._article import Article, Articles, render_tasks
from triathlon_site.render import Environment
from triathlon_site.render.formats import receipt_anchor

PACK_CHARACTERS: Final = 400_000
"""Of HTML in one pack: some 40 kB to load for one unit. Smaller ones are more files, and pack worse."""
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


class Attempt(NamedTuple):
    """One model's units on one task; for runtime on one program."""

    task: str
    outcome: str
    """`passed`, another outcome, `3 loops`, or `2 of 5 passed` where there are several units."""
    address: str
    """Of its evidence, from the root of the site; of a failed unit where there is one."""


class ListedTask(NamedTuple):
    """One task in the list of a model's units."""

    task: str
    outcome: str
    anchor: str
    """Its id on the page."""
    reason: str = ""
    parents_solved: bool = False
    """Whether all problems that it was made from, and that there are results of, are solved."""


def _by_task(records: Sequence[UnitRecord]) -> dict[str, list[UnitRecord]]:
    """The records of each task, in the order of their samples."""
    tasks: dict[str, list[UnitRecord]] = {}
    for record in records:
        tasks.setdefault(record.task_id, []).append(record)
    return {task: sorted(of_task, key=lambda record: record.sample) for task, of_task in tasks.items()}


def _first_failed(records: Sequence[UnitRecord]) -> UnitRecord:
    """The first that is not passed; the first where all are."""
    return next((record for record in records if record.outcome != Outcome.PASSED), records[0])


def _ended(records: Sequence[UnitRecord]) -> str:
    """How the units of a task ended, as `Attempt.outcome` has it."""
    failed = sum(record.outcome != Outcome.PASSED for record in records)
    if len(records) > 1:
        return f"{len(records) - failed} of {len(records)} passed" if failed else "passed"
    return str(records[0].outcome)


def _listed_tasks(
    tasks: Mapping[str, Sequence[UnitRecord]], article: Article, parents: Mapping[str, UnitRecord]
) -> Iterator[ListedTask]:
    """Each task with how it ended and why, for the page of its own suite."""
    for task, records in tasks.items():
        worst = _first_failed(records)
        known = [parents[name].outcome for name in getattr(worst, "parents", ()) if name in parents]
        solved = bool(known) and all(outcome == Outcome.PASSED for outcome in known)
        why = article.reason(worst) if worst.outcome != Outcome.PASSED else ""
        yield ListedTask(task, _ended(records), unit_anchor(task), why, solved)


def _attempts(records: Sequence[UnitRecord], page: str, *, receipt: bool) -> Iterator[Attempt]:
    """The attempts at each task of one file.

    Args:
        records: its units.
        page: where their evidence is: the page of the suite, or a receipt.
        receipt: whether it is one address for all.
    """
    programs: dict[str, list[UnitRecord]] = {}
    for record in records:
        programs.setdefault(getattr(record, "program_id", record.task_id), []).append(record)
    for task, units in programs.items():
        shown = _first_failed(units)
        outcome = _ended(units)
        if len(units) == 1 and (loops := getattr(shown, "sustained_loops", None)):
            outcome = f"{loops} loop{'s' * (loops > 1)}"
        anchor = unit_anchor(shown.task_id, shown.sample)
        yield Attempt(task, outcome, page if receipt else f"{page}#{anchor}")


def read_attempts(text: bytes) -> Iterator[Attempt]:
    """Every `Attempt` of one file."""
    return (Attempt(*fields) for fields in json.loads(text or b"[]"))


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
        slug, tasks = model_slug(model), _by_task(records)
        article = self.articles.get(type(records[0]), Article()) if records else Article()
        if any(isinstance(record, RecordedUnit) for record in records):
            receipt = f"models/{slug}.html#{receipt_anchor(suite)}"
            tried = list(_attempts(records, receipt, receipt=True))
            return self._lists("recorded", tried, tried)
        page = evidence_page(imported_slug(slug) if self.imported else slug, suite)
        links = list(_listed_tasks(tasks, article, parents))
        tried = list(_attempts(records, page, receipt=False))
        if private:
            return self._lists("links", [one._replace(reason="") for one in links], tried)
        packs = list(_in_packs(render_tasks(tasks, self.environment, article, parents)))
        return {
            **self._lists("links", links, tried),
            SUMMARY: json.dumps(article.summary(records) or {}, separators=(",", ":")),
            INDEX: _packed(_index(records, tasks, article, packs)),
            **{f"{number}.js": _packed(pack) for number, pack in enumerate(packs, start=1)},
        }

    def _lists(
        self, template: str, links: Sequence[ListedTask | Attempt], tried: Sequence[Attempt]
    ) -> dict[str, str]:
        return {
            LINKS: self.environment.render(f"evidence/{template}", links=links),
            ATTEMPTS: json.dumps(tried, separators=(",", ":")),
        }


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
        "tasks": [[task, number[task], _ended(tasks[task]), kinds[task]] for task in tasks],
        "lines": [place[record.task_id] for record in records],
    }


def _packed(content: Any) -> str:
    """A script that hands over the content, in Python's base 85; the same bytes for the same content."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return f'triathlonPack("{base64.b85encode(gzip.compress(text, 9, mtime=0)).decode()}")\n'


def _in_packs(tasks: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """The tasks of each pack, with the HTML of each."""
    pack: dict[str, str] = {}
    for task, html in tasks:
        if pack and sum(map(len, pack.values())) + len(html) > PACK_CHARACTERS:
            yield pack
            pack = {}
        pack[task] = html
    if pack:
        yield pack
