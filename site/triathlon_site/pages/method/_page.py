"""How everything is measured and computed: definitions, prompts, and what the results were made with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from triathlon_runner import catalogue
from triathlon_runner.records import Manifest
from triathlon_site.load import Results
from triathlon_site.noise import SuiteNoise, suite_noise
from triathlon_site.pages.method._core import core_draft
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.render import Draft, PageContext
from triathlon_site.tasks import FEWEST_MODELS
from triathlon_site.uncertainty import DRAWS, LEVEL

SIMULATED: Final = (
    ("pass@1", "40 to 378 tasks, 5 to 90 % solved, computed exactly", "94 to 99 %"),
    ("ASL", "the same, and 60 to 95 % of programs survive a loop", "95 to 98 %"),
    ("IC", "40 to 154 programs with 3 to 15 chains, 5 to 90 % of answers right, 2,000 each", "95 to 98 %"),
    (
        "mean of six sets",
        "sets made as ours and EvoEval’s, correlation of a task with its seed 0 to 0.49, 2,000 each",
        "93 to 97 %",
    ),
    ("relative drop", "the same sets, from 20 to 90 % solved to 5 to 60 %, 2,000 each", "93 to 96 %"),
    (
        "difference of two models",
        "40 to 378 tasks, 5 to 90 % solved, equal or half as good, alike or not, 2,000 each",
        "94 to 100 %",
    ),
    ("difference of two means", "the sets above, equal models, 2,000 each", "94 to 99 %"),
    (
        "rank",
        "40 to 378 tasks, 500 tables of 12 models and 200 of 40, from nearly equal to far apart",
        "96 to 100 %",
    ),
    (
        "overall rank",
        "three disciplines of 40 to 164 tasks made from the same seeds, 500 tables",
        "97 to 100 %",
    ),
    (
        "Spearman’s ρ, Kendall’s τ-b",
        "5 to 60 models from a bivariate normal distribution, r from 0 to 0.9, 2,000 each",
        "95 to 100 %",
    ),
    ("tiers", "12 and 40 equal models, 40 to 378 tasks, 2,000 tables each", "at most 4 % are split"),
    (
        "rank shifts",
        "12 models that do not move, on the same tasks or on others, 500 tables",
        "0 to 3 % are marked",
    ),
    ("strong and weak sides", "12 models with one rank in all six sets, 250 tables", "0 to 2 % are named"),
)
"""Interval, what was simulated, and the share of experiments in which it held the truth; for the last three
the share in which something was called different that is equal. From benchmarks/coverage.py: its smallest and
largest share over all settings, in whole per cent."""


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
    simulated: Sequence[tuple[str, str, str]]
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
        simulated=SIMULATED,
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
