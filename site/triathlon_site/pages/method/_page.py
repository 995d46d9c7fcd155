"""How everything is measured and computed: definitions, prompts, and what the results were made with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from triathlon_runner import catalogue
from triathlon_runner.records import Manifest
from triathlon_site.load import Results
from triathlon_site.noise import SuiteNoise, suite_noise
from triathlon_site.pages.method._core import core_draft
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.render import Draft, PageContext
from triathlon_site.tasks import FEWEST_MODELS
from triathlon_site.uncertainty import DRAWS, LEVEL


@dataclass(frozen=True)
class SuiteFacts:
    """Under which conditions the results of one suite were made; several of a kind where they differ."""

    suite: str
    models: int
    data: tuple[str, ...]
    hashes: tuple[str, ...]
    protocols: tuple[str, ...]
    sandboxes: tuple[str, ...]
    integrity: tuple[str, ...]


@dataclass(frozen=True)
class MethodContext(PageContext):
    """What the method page shows."""

    template: ClassVar[str] = "method/page"
    draws: int
    """Of the bootstrap."""
    level: float
    """Of the intervals."""
    significance: float
    """Level of the tests between tiers."""
    fewest: int
    """Models below which nothing is said about tasks."""
    facts: list[SuiteFacts]
    integrity: tuple[str, ...]
    """What attacks on the grader found, over all suites."""
    noise: Sequence[SuiteNoise]
    """Of the suites that some model was asked several times."""


@dataclass(frozen=True)
class PromptsContext(PageContext):
    """The prompt templates: by discipline, by name."""

    template: ClassVar[str] = "method/prompts"
    prompts: Mapping[str, Mapping[str, str]]


def drafts(results: Results) -> Iterator[Draft]:
    """The method page, the prompts, and the card of our own problems."""
    facts = list(_facts(results))
    context = MethodContext(
        draws=DRAWS,
        level=LEVEL,
        significance=SIGNIFICANCE,
        fewest=FEWEST_MODELS,
        facts=facts,
        integrity=_different(value for suite in facts for value in suite.integrity),
        noise=suite_noise(results.files),
    )
    yield Draft("method.html", context)
    prompts = {
        discipline.name: dict(sorted(discipline.prompts(None).templates.items()))
        for discipline in sorted(catalogue.DISCIPLINES, key=lambda entry: bool(entry.kind_of))
        if discipline.prompts is not None
    }
    yield Draft("prompts.html", PromptsContext(prompts))
    yield core_draft(results)


def _facts(results: Results) -> Iterator[SuiteFacts]:
    suites: dict[str, list[Manifest]] = {}
    for file in results.files:
        if file.manifest and file.units:
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
