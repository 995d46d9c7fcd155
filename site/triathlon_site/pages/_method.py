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

SIMULATED: Final = (
    ("pass@1", "40 to 378 tasks, 5 to 90 % solved, 2,000 experiments each", "95 to 99 %"),
    ("ASL", "the same, and 60 to 95 % of programs survive a loop", "94 to 99 %"),
    ("IC", "40 to 154 programs with 3 to 15 chains, 5 to 90 % of answers right, 2,000 each", "95 to 98 %"),
    (
        "mean of six sets",
        "sets made as ours and EvoEval’s, correlation of a task with its seed 0 to 0.49, 2,000 each",
        "93 to 97 %",
    ),
    ("relative drop", "the same sets, from 20 to 90 % solved to 5 to 60 %, 400 each", "93 to 97 %"),
    (
        "difference of two models",
        "40 to 378 tasks, 5 to 90 % solved, equal or half as good, alike or not, 400 each",
        "93 to 100 %",
    ),
    ("difference of two means", "the sets above, equal models, 400 each", "93 to 99 %"),
    (
        "rank",
        "40 to 378 tasks, 12 and 40 models, from nearly equal to far apart, 40 to 100 tables",
        "96 to 100 %",
    ),
    (
        "overall rank",
        "three disciplines of 40 to 164 tasks made from the same seeds, 100 tables",
        "96 to 100 %",
    ),
    (
        "Spearman’s ρ, Kendall’s τ-b",
        "5 to 24 models from a bivariate normal distribution, r from 0 to 0.9, 400 each",
        "94 to 100 %",
    ),
    ("tiers", "12 and 40 equal models, 40 to 378 tasks, 200 tables each", "at most 6 % are split"),
    (
        "rank shifts",
        "12 models that do not move, on the same tasks or on others, 100 tables",
        "0 to 4 % are marked",
    ),
    ("strong and weak sides", "12 models with one rank in all six sets, 50 tables", "0 to 2 % are named"),
)
"""Interval, what was simulated, and the share of experiments in which it held the truth; for the last three
the share in which something was called different that is equal. From benchmarks/coverage.py: its smallest and
largest share over all settings, in whole per cent."""


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
