"""How everything is measured and computed: definitions, prompts, and what the results were made with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Discipline, Manifest
from triathlon_site.load import Results
from triathlon_site.pages import _card
from triathlon_site.pages._page import Draft
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.scores import Board
from triathlon_site.tasks import FEWEST_MODELS
from triathlon_site.uncertainty import DRAWS, LEVEL

SIMULATED: Final = ()


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """Under which conditions the results of one suite were made; several of a kind where they differ."""

    suite: str
    models: int
    data: tuple[str, ...]
    hashes: tuple[str, ...]
    protocols: tuple[str, ...]
    sandboxes: tuple[str, ...]
    integrity: tuple[str, ...]


def drafts(boards: Sequence[Board], results: Results) -> Iterator[Draft]:
    facts = list(_facts(results))
    context = {
        "boards": boards,
        "draws": DRAWS,
        "level": LEVEL,
        "significance": SIGNIFICANCE,
        "fewest": FEWEST_MODELS,
        "simulated": SIMULATED,
        "facts": facts,
        "integrity": _different(value for one in facts for value in one.integrity),
    }
    yield Draft("method.html", "method", context)
    prompts = {one.value: dict(sorted(load_prompts(one.value).templates.items())) for one in Discipline}
    yield Draft("prompts.html", "prompts", {"prompts": prompts})
    yield _card.draft(results)


def _facts(results: Results) -> Iterator[SuiteFacts]:
    suites: dict[str, list[Manifest]] = {}
    for file in results.files:
        if file.manifest and file.tasks:
            suites.setdefault(file.suite, []).append(file.manifest)
    for suite, manifests in suites.items():
        yield SuiteFacts(
            suite,
            len(manifests),
            _different(f"{one.data.name} {one.data.version}" for one in manifests),
            _different(one.data.sha256 for one in manifests),
            _different(one.protocol for one in manifests),
            _different(one.sandbox_level for one in manifests),
            _different(one.grader_integrity for one in manifests),
        )


def _different(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))
