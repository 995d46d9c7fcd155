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
    """The conditions under which the results of one suite were made; several values where they differ."""

    suite: str
    models: int
    data: tuple[str, ...]
    hashes: tuple[str, ...]
    protocols: tuple[str, ...]
    sandboxes: tuple[str, ...]
    integrity: tuple[str, ...]


@dataclass(frozen=True)
class MethodContext(PageContext):
    """The template's data for the method page."""

    template: ClassVar[str] = "method/page"
    draws: int
    """Draws of the bootstrap."""
    level: float
    """Confidence level of the intervals."""
    significance: float
    """Level of the tests between tiers."""
    fewest: int
    """Models below which nothing is said about tasks."""
    facts: list[SuiteFacts]
    integrity: tuple[str, ...]
    """Results of the attacks on the grader, over all suites."""
    noise: Sequence[SuiteNoise]
    """The noise of each suite that some model was asked several times."""


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
        integrity=_distinct(value for suite in facts for value in suite.integrity),
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
            _distinct(f"{manifest.data.name} {manifest.data.version}" for manifest in manifests),
            _distinct(manifest.data.sha256 for manifest in manifests),
            _distinct(manifest.protocol for manifest in manifests),
            _distinct(manifest.sandbox_level for manifest in manifests),
            _distinct(manifest.grader_integrity for manifest in manifests),
        )


def _distinct(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))
