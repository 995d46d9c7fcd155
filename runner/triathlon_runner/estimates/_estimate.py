"""Estimates requests, tokens, money and time of a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from triathlon_runner.estimates._noise import noise_sentence
from triathlon_runner.estimates._observed import half_width, observed, pass_rate, speed
from triathlon_runner.estimates._probe import UnitCost, probe
from triathlon_runner.grading import Grader
from triathlon_runner.records import Manifest
from triathlon_runner.registry import ModelRow
from triathlon_runner.schedule import RunPlan, Work
from triathlon_runner.store import ResultsFolder


@dataclass(frozen=True, slots=True)
class SuiteEstimate:
    """What is left of one model on one suite."""

    suite: str
    units: int
    open: int
    requests: float
    input_tokens: float
    output_tokens: float
    basis: str
    half_width: float
    """Of the 95 % interval of pass@1 when all units are done, as a share."""
    noise: str = ""
    """How repeats or more tasks would narrow it, in words; empty where no model was asked several times."""


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What is left of one model."""

    model: str
    suites: tuple[SuiteEstimate, ...]
    usd: float | None
    """None where the row names no price."""
    hours: float | None
    """None where no speed is known."""
    speed: str
    """Where the speed comes from, or what to do to have one."""

    @property
    def requests(self) -> float:
        return sum(suite.requests for suite in self.suites)

    @property
    def input_tokens(self) -> float:
        return sum(suite.input_tokens for suite in self.suites)

    @property
    def output_tokens(self) -> float:
        return sum(suite.output_tokens for suite in self.suites)


async def estimate(plan: RunPlan, folder: ResultsFolder, grader: Grader) -> list[ModelEstimate]:
    """Estimates every model of a plan without asking any.

    Where no results tell more, each suite is probed once for each kind of model.

    Raises:
        SandboxError: the sandbox failed.
    """
    manifests = list(folder.manifests())
    probed: dict[tuple[str, str], UnitCost] = {}
    estimates = []
    for works in plan.work.values():
        suites = [await _suite(work, folder, manifests, grader, probed) for work in works]
        if works:
            estimates.append(_model(works[0].row, tuple(suites), manifests))
    return estimates


async def _suite(
    work: Work,
    folder: ResultsFolder,
    manifests: Sequence[Manifest],
    grader: Grader,
    probed: dict[tuple[str, str], UnitCost],
) -> SuiteEstimate:
    left = len(work.open_units(folder.units(work.row.id, work.suite_id)))
    cost = observed(work, manifests)
    if cost is None:
        key = (work.suite_id, work.row.kind)
        if key not in probed:
            probed[key] = await probe(work, grader)
        cost = probed[key]
    return SuiteEstimate(
        suite=work.suite_id,
        units=work.built.count,
        open=left,
        requests=cost.requests * left,
        input_tokens=cost.input_tokens * left,
        output_tokens=cost.output_tokens * left,
        basis=cost.basis,
        half_width=half_width(len(work.built.chosen), pass_rate(work, manifests)),
        noise=noise_sentence(work.built.entry, len(work.built.chosen), folder, manifests) if left else "",
    )


def _model(row: ModelRow, suites: tuple[SuiteEstimate, ...], manifests: Sequence[Manifest]) -> ModelEstimate:
    sent = sum(suite.input_tokens for suite in suites)
    got = sum(suite.output_tokens for suite in suites)
    requests = sum(suite.requests for suite in suites)
    usd = None if row.price is None else (sent * row.price.input + got * row.price.output) / 1e6
    if row.serve is not None:
        usd = usd or 0.0
    rate, source = (row.speed, "stated") if row.speed else (speed(row.id, manifests), "observed")
    hours = _hours(row, {"output": got, "all": sent + got, "requests": requests}, rate)
    if rate is None:
        source = "by the row's limits a minute"
    if hours is None:
        source = "unknown: set `speed` (output tokens a second) in the row"
    return ModelEstimate(row.id, suites, usd, hours, source)


def _hours(row: ModelRow, amounts: Mapping[str, float], rate: float | None) -> float | None:
    """The longest of what the speed and the provider's limits a minute ask for."""
    waits = [] if rate is None else [amounts["output"] / rate / 3600]
    if row.api is not None and row.api.requests_per_minute:
        waits.append(amounts["requests"] / row.api.requests_per_minute / 60)
    if row.api is not None and row.api.tokens_per_minute:
        waits.append(amounts["all"] / row.api.tokens_per_minute / 60)
    return max(waits) if waits else 0.0 if not amounts["requests"] else None
