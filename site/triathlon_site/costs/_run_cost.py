"""Cost and speed of one model on some suites."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from triathlon_runner.records import Outcome
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo
from triathlon_site.scores import Board


@dataclass(frozen=True, slots=True)
class RunCost:
    """What one model took on some suites; each field is None where it is not known."""

    usd: float | None
    """At the prices of models.yaml when it was asked."""
    usd_per_solved: float | None
    """For each unit that ended as passed; None where none did."""
    output_tokens: float | None
    """A unit."""
    reasoning_tokens: float | None
    """A unit; part of the output tokens, where the server names it."""
    tokens_per_second: float | None
    """Output tokens a second over all requests in flight, in the newest run."""
    cut_share: float | None
    """Of the replies, those that ended at the token limit, 0 to 1."""


def run_cost(files: Sequence[FileAggregate]) -> RunCost:
    """Sums up one model's files; tokens are known only where every request was counted by the server."""
    units = sum(file.units for file in files)
    manifests = [file.manifest for file in files]
    prices = [manifest.cost_usd if manifest else None for manifest in manifests]
    known_prices = [price for price in prices if price is not None]
    usd = sum(known_prices) if prices and len(known_prices) == len(prices) else None
    passed = sum(file.outcomes.get(Outcome.PASSED.value, 0) for file in files)
    usages = [file.usage for file in files]
    counted = units and all(usage.requests and not usage.uncounted for usage in usages)
    replies, cut = sum(file.replies for file in files), sum(file.cut_replies for file in files)
    runs = [manifest for manifest in manifests if manifest and manifest.tokens_per_second]
    newest = max(runs, key=lambda manifest: manifest.ended, default=None)
    return RunCost(
        usd=usd,
        usd_per_solved=usd / passed if usd is not None and passed else None,
        output_tokens=sum(usage.output_tokens for usage in usages) / units if counted else None,
        reasoning_tokens=sum(usage.reasoning_tokens for usage in usages) / units if counted else None,
        tokens_per_second=newest.tokens_per_second if newest else None,
        cut_share=cut / replies if replies else None,
    )


def solved_cost_by_name(
    boards: Sequence[Board], models: Mapping[str, ModelInfo], ids: Collection[str]
) -> dict[str, float]:
    """What a solved task cost over these boards, in dollars, by the name of each model where it is known.

    Args:
        boards: all boards.
        models: names by id.
        ids: of the boards that count.
    """
    files: dict[str, list[FileAggregate]] = {}
    for board in boards:
        if board.plan.id in ids:
            for model, model_files in board.files.items():
                files.setdefault(model, []).extend(model_files)
    costs = {models[model].name: run_cost(model_files).usd_per_solved for model, model_files in files.items()}
    return {name: cost for name, cost in costs.items() if cost}
