"""How everything is measured and computed; the prompts; the card of our own problems."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar, Final

from markdown_it import MarkdownIt
from markupsafe import Markup

from triathlon_runner import catalogue
from triathlon_runner.datasets import DataFile, core
from triathlon_runner.datasets.official import PROMPT_FILES
from triathlon_runner.records import Manifest, Outcome
from triathlon_site.load import Results
from triathlon_site.noise import SuiteNoise, suite_noise
from triathlon_site.pages._site import Gathered
from triathlon_site.pages.board import view_named
from triathlon_site.ranking import SIGNIFICANCE
from triathlon_site.render import Draft, PageContext
from triathlon_site.tasks import FEWEST_MODELS
from triathlon_site.uncertainty import DRAWS, LEVEL

LEVELS: Final = (1, 2, 3, 4, 5)
NOT_RUN: Final = "not run"
"""What manifests of recorded and imported results say of the grader's integrity: there is nothing to tell."""


@dataclass(frozen=True)
class MethodContext(PageContext):
    """The template's data for the method page."""

    template: ClassVar[str] = "method/page"
    facts: Mapping[str, tuple[int, list[list[str]]]]
    """By suite, how many models have results, and the distinct conditions under which they were made: data,
    its hash, protocol, sandbox, integrity of the grader."""
    integrity: list[str]
    """Results of the attacks on the grader, over all suites."""
    noise: Sequence[SuiteNoise]
    """The noise of each suite that some model was asked several times."""
    draws: int = DRAWS
    """Draws of the bootstrap."""
    level: float = LEVEL
    """Confidence level of the intervals."""
    significance: float = SIGNIFICANCE
    """Level of the tests between tiers."""
    fewest: int = FEWEST_MODELS
    """Models below which nothing is said about tasks."""


@dataclass(frozen=True)
class PromptsContext(PageContext):
    """The prompt templates: by discipline, by name."""

    template: ClassVar[str] = "method/prompts"
    prompts: Mapping[str, Mapping[str, str]]
    official: Mapping[str, Sequence[DataFile]]
    """By discipline, the files of the authors' prompts."""
    about: Mapping[str, str]
    """By discipline, how its prompts differ from the paper's."""


@dataclass(frozen=True)
class CoreContext(PageContext):
    """The card of our own problems, and what the models solve of them."""

    template: ClassVar[str] = "method/core"
    card: Markup
    rows: list[tuple[str, list[tuple[int, int]]]]
    """Each model, and for each level (seeds solved, seeds run)."""
    levels: Sequence[int] = LEVELS


def drafts(site: Gathered) -> Iterator[Draft]:
    """The method page, the prompts, and the card of our own problems."""
    manifests: dict[str, list[Manifest]] = defaultdict(list)
    for file in site.results.files:
        if file.manifest and file.units:
            manifests[file.suite].append(file.manifest)
    context = MethodContext(
        facts={suite: (len(own), _conditions(own)) for suite, own in manifests.items()},
        integrity=sorted({m.grader_integrity for own in manifests.values() for m in own} - {NOT_RUN}),
        noise=suite_noise(site.results.files),
    )
    yield Draft("method.html", context)
    prompts = {
        discipline.name: dict(sorted(discipline.prompts(None).templates.items()))
        for discipline in sorted(catalogue.DISCIPLINES, key=lambda entry: bool(entry.kind_of))
        if discipline.prompts is not None
    }
    official = {name: PROMPT_FILES.get(name, ()) for name in prompts}
    about = {name: view_named(name).about_prompts for name in prompts}
    yield Draft("prompts.html", PromptsContext(prompts, official, about))
    yield core_draft(site.results)


def _conditions(manifests: Sequence[Manifest]) -> list[list[str]]:
    rows = [
        (
            f"{m.data.name} {m.data.version}",
            m.data.sha256,
            str(m.protocol),
            m.sandbox_level,
            "" if m.grader_integrity == NOT_RUN else m.grader_integrity,
        )
        for m in manifests
    ]
    return [sorted(set(filter(None, values))) for values in zip(*rows, strict=True)]


def core_draft(results: Results) -> Draft:
    """The page of our own problems: their card, and the table of levels under it."""
    text = files(core).joinpath("README.md").read_text("utf-8")
    card = Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))
    level_of = {problem.task_id: problem.level for problem in core.problems("seeds")}
    rows = []
    seeds = next(entry.id for entry in catalogue.entries() if entry.core and entry.seeds == entry.id)
    for model, file in results.of_suite(seeds).items():
        first = [task for task in file.tasks if task.sample == 0]
        run = Counter(level_of.get(task.task_id) for task in first)
        solved = Counter(level_of.get(task.task_id) for task in first if task.outcome == Outcome.PASSED)
        if first:
            rows.append((model, [(solved[level], run[level]) for level in LEVELS]))
    return Draft("core.html", CoreContext(card, sorted(rows, key=lambda row: row[1], reverse=True)))
