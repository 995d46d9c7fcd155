"""The units of one results file as pages of about 60 kB."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from triathlon_runner.records import EvolvedRecord, LoopRecord, LoopStep, RuntimeRecord, UnitRecord
from triathlon_runner.runtime import chains
from triathlon_site.evidence._words import Words, changed_words

PAGE_CHARACTERS: Final = 60_000


class Renderer(Protocol):
    """What fills a template."""

    def render(self, template: str, **context: object) -> str: ...


def evidence_path(slug: str, suite: str, page: int) -> str:
    """Where one page of evidence lies on the site."""
    name = re.sub(r"[^a-z0-9.+_-]", "-", suite.lower())
    digest = "" if name == suite.replace("/", "-") else f"-{hashlib.sha256(suite.encode()).hexdigest()[:6]}"
    return f"evidence/{slug}/{name}{digest}-{page}.html"


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Whose evidence it is, and what stands beside it."""

    slug: str
    model: str
    suite: str
    parents: Mapping[str, UnitRecord] = field(default_factory=dict)
    """By task_id: what the model did with the problems that these were evolved from."""


def render_evidence(
    records: Sequence[UnitRecord], renderer: Renderer, source: EvidenceSource
) -> tuple[list[str], list[int]]:
    """The pages, and for each record the number of its page. Record i has the anchor `u<i>`."""
    articles = [
        renderer.render("partials/unit", anchor=f"u{index}", **_unit(record, source))
        for index, record in enumerate(records)
    ]
    pages, numbers = [], []
    for number, group in enumerate(_grouped(articles), start=1):
        pages.append("".join(group))
        numbers += [number] * len(group)
    context = {
        "root": "../../",
        "model": source.model,
        "slug": source.slug,
        "suite": source.suite,
        "count": len(pages),
    }
    return (
        [
            renderer.render("evidence", articles=body, page=number, **context)
            for number, body in enumerate(pages, 1)
        ],
        numbers,
    )


def _unit(record: UnitRecord, source: EvidenceSource) -> dict[str, object]:
    """What the template of one unit uses."""
    parents = [source.parents[name] for name in getattr(record, "parents", ()) if name in source.parents]
    return {
        "record": record,
        "kind": _kind(record),
        "steps": _film(record),
        "chain_scores": [one.score for one in chains(record)] if isinstance(record, RuntimeRecord) else [],
        "parents": parents,
        "retold": _retold(record, parents),
    }


def _retold(record: UnitRecord, parents: Sequence[UnitRecord]) -> list[Words]:
    """The problem's words compared with those of its one seed; nothing where there are none or two."""
    if not isinstance(record, EvolvedRecord) or len(parents) != 1:
        return []
    seed = parents[0]
    return changed_words(seed.prompt, record.prompt) if isinstance(seed, EvolvedRecord) else []


def _kind(record: UnitRecord) -> str:
    kinds = {LoopRecord: "loop", RuntimeRecord: "runtime", EvolvedRecord: "evolved"}
    return kinds.get(type(record), "other")


def _film(record: UnitRecord) -> list[tuple[LoopStep, list[Words]]]:
    """The steps of a loop, each with its prompt's words compared with those of the prompt before."""
    if not isinstance(record, LoopRecord):
        return []
    steps = record.loops
    return [
        (step, changed_words(steps[i - 1].prompt, step.prompt) if i else [Words("same", step.prompt)])
        for i, step in enumerate(steps)
    ]


def _grouped(articles: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for article in articles:
        if group and size + len(article) > PAGE_CHARACTERS:
            yield group
            group, size = [], 0
        group.append(article)
        size += len(article)
    if group:
        yield group
