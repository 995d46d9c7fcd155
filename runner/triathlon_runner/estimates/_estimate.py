"""Estimates requests, tokens, money and time of a plan."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from triathlon_runner.errors import UserError
from triathlon_runner.estimates._cost import Cost, highest_cost, observed_cost
from triathlon_runner.grading import Grader
from triathlon_runner.metrics import Metric
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.noise import Z_95, NoiseBudget, median_budget, noise_budget
from triathlon_runner.records import Manifest, Outcome, UnitRecord
from triathlon_runner.schedule import RunPlan, Work
from triathlon_runner.store import ResultsFolder, read_records, recorded_files
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import counted


@dataclass(frozen=True, slots=True)
class SuiteEstimate:
    """What is left of one model on one suite."""

    suite: str
    units: int
    open: int
    cost: Cost
    """Of the open units."""
    half_width: float
    """Of the 95 % interval of pass@1 when all units are done, as a share."""
    noise: str = ""
    """How repeats or more tasks would narrow it, in words; empty where no model was asked several times."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What is left of one model."""

    model: str
    suites: tuple[SuiteEstimate, ...]
    requests: float
    input_tokens: float
    output_tokens: float
    usd: float | None
    """None where the row names no price."""
    hours: float | None
    """None where no speed is known."""
    speed: str
    """Where the speed comes from, or what to do to have one."""


async def estimate(plan: RunPlan, folder: ResultsFolder, grader: Grader) -> list[ModelEstimate]:
    """Estimates every model of a plan without asking any.

    Where no results tell more, each suite is probed once for each kind of model.

    Raises:
        SandboxError: the sandbox failed.
    """
    manifests = list(folder.manifests())
    probed: dict[tuple[str, str], Cost] = {}
    estimates = []
    for works in plan.work.values():
        suites = []
        for work in works:
            cost, kind = observed_cost(work, manifests), (work.suite_id, work.row.kind)
            if cost is None:
                cost = probed[kind] = probed.get(kind) or await highest_cost(work, grader)
            suites.append(_suite(work, cost, folder, manifests))
        if works:
            estimates.append(_model(works[0].row, tuple(suites), manifests))
    return estimates


def _suite(work: Work, cost: Cost, folder: ResultsFolder, manifests: Sequence[Manifest]) -> SuiteEstimate:
    left = len(work.open_units(folder.units(work.row.id, work.suite_id)))
    tasks = len(work.built.chosen)
    return SuiteEstimate(
        suite=work.suite_id,
        units=work.built.count,
        open=left,
        cost=cost.times(left),
        half_width=half_width(tasks, _pass_rate(work, manifests)),
        noise=_noise_sentence(work.built.entry, tasks, folder, manifests) if left else "",
    )


def _model(row: ModelRow, suites: tuple[SuiteEstimate, ...], manifests: Sequence[Manifest]) -> ModelEstimate:
    requests = sum(suite.cost.requests for suite in suites)
    sent = sum(suite.cost.input_tokens for suite in suites)
    got = sum(suite.cost.output_tokens for suite in suites)
    usd = row.price.usd(sent, got) if row.price else 0.0 if row.serve is not None else None
    rate, source = (row.speed, "stated") if row.speed else (_speed(row.id, manifests), "observed")
    # The longest of what the speed and the provider's limits a minute ask for.
    waits = [] if rate is None else [got / rate / 3600]
    if row.api is not None and row.api.requests_per_minute:
        waits.append(requests / row.api.requests_per_minute / 60)
    if row.api is not None and row.api.tokens_per_minute:
        waits.append((sent + got) / row.api.tokens_per_minute / 60)
    hours = max(waits) if waits else None if requests else 0.0
    if hours is None:
        source = "unknown: set `speed` (output tokens a second) in the row"
    elif rate is None:
        source = "by the row's limits a minute"
    return ModelEstimate(row.id, suites, requests, sent, got, usd, hours, source)


def _speed(model: str, manifests: Sequence[Manifest]) -> float | None:
    """Output tokens a second of the model's last run; None where it is not known."""
    runs = [manifest for manifest in manifests if manifest.model == model and manifest.tokens_per_second]
    return max(runs, key=lambda manifest: manifest.ended).tokens_per_second if runs else None


def _pass_rate(work: Work, manifests: Sequence[Manifest]) -> float:
    """Share of units that passed so far; one half, where intervals are widest, while nothing is known."""
    place = work.suite_id, work.row.id
    runs = [manifest.outcomes for manifest in manifests if (manifest.suite, manifest.model) == place]
    units = sum(sum(outcomes.values()) for outcomes in runs)
    passed = sum(outcomes.get(Outcome.PASSED.value, 0) for outcomes in runs)
    return passed / units if units else 0.5


def half_width(tasks: int, passed: float = 0.5) -> float:
    """Half the width of Wilson's 95 % interval of pass@1 over so many tasks, as a share from 0 to 0.5.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference (1927).
    """
    if not tasks:
        return 0.5
    spread = passed * (1 - passed) / tasks + Z_95 * Z_95 / (4 * tasks * tasks)
    return Z_95 * math.sqrt(spread) / (1 + Z_95 * Z_95 / tasks)


def _noise_sentence(
    entry: SuiteEntry, tasks: int, folder: ResultsFolder, manifests: Sequence[Manifest]
) -> str:
    """What three repeats, and what more tasks, would make of the interval of the suite's headline score.

    Empty where no model has several samples a task of this suite, or its score is no mean over units.
    """
    metric = next((metric for metric in entry.metrics if metric.headline), None)
    if metric is None:
        return ""
    repeated = _repeated(entry, folder, manifests)
    budgets = [budget for records in repeated if (budget := _budget(metric, records)) is not None]
    if not budgets:
        return ""
    sentence = median_budget(budgets).sentence(maximum=metric.maximum, tasks=tasks)
    return f"{sentence} (from {counted(len(budgets), 'model')} with repeats)"


def _repeated(
    entry: SuiteEntry, folder: ResultsFolder, manifests: Sequence[Manifest]
) -> Iterator[Sequence[UnitRecord]]:
    """The records of every model with more units than tasks; the build names files that cannot be read."""
    for manifest in manifests:
        if manifest.suite == entry.id and _has_repeats(manifest):
            with suppress(UserError):
                records = list(read_records(folder.lines(manifest.model, entry.id), entry.record))
                yield [record for record in records if record.protocol == manifest.protocol]
    for file in recorded_files(folder.root):
        if file.suite == entry.id:
            with suppress(UserError):
                if _has_repeats(file.read_manifest()):
                    yield file.read()


def _has_repeats(manifest: Manifest) -> bool:
    units = sum(manifest.outcomes.values()) + manifest.open_units
    return units > manifest.tasks_planned and not manifest.has_copies


def _budget(metric: Metric, records: Sequence[UnitRecord]) -> NoiseBudget | None:
    """None where a unit has no score of its own: F1 is a ratio of sums."""
    tasks: dict[str, list[float]] = defaultdict(list)
    for record in records:
        tasks[record.task_id].append(metric.score([record]))
    if not tasks:
        return None
    mean = sum(sum(scores) / len(scores) for scores in tasks.values()) / len(tasks)
    return noise_budget(list(tasks.values())) if math.isclose(mean, metric.score(records)) else None
