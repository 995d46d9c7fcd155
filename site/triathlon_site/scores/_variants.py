"""A board's suites beside their variants: the same tasks under one other setting."""

from collections.abc import Mapping
from dataclasses import dataclass

from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load import FileAggregate
from triathlon_site.scores._ranked_board import Board, sample_of
from triathlon_site.uncertainty import Difference, paired_difference


@dataclass(frozen=True, slots=True)
class Variant:
    """One setting that somebody ran."""

    entry: SuiteEntry
    plain: SuiteEntry
    """The suite that it differs from."""

    @property
    def kind(self) -> str:
        return self.entry.variant_kind or ""

    @property
    def title(self) -> str:
        """`detailed` of `loop/core@prompt-detailed`; `cot` of `runtime/core@cot`."""
        return self.entry.id.partition("@")[2].removeprefix(f"{self.kind.removesuffix('s')}-")


def variants_of(board: Board, *kinds: str) -> list[Variant]:
    """Of these kinds, of all where none is named, in the catalogue's order."""
    plain = {entry.id: entry for entry in board.plan.suites}
    return [
        Variant(entry, plain[entry.variant_of or ""])
        for entry in board.plan.variants
        if entry.id in board.variants and (not kinds or entry.variant_kind in kinds)
    ]


def contributions(files: Mapping[str, FileAggregate], metric: str) -> dict[str, list[Contribution]]:
    """By model, what each of its tasks adds to a metric: the input of the runner's comparisons."""
    by_model = {model: file.metrics[metric] for model, file in files.items()}
    return {
        model: list(map(Contribution, parts.clusters, parts.numerators.tolist(), parts.denominators.tolist()))
        for model, parts in by_model.items()
    }


def total(file: FileAggregate, metric: str) -> Contribution:
    """What all of a model's tasks together add to a metric."""
    parts = file.metrics[metric]
    return Contribution("", sum(parts.numerators), sum(parts.denominators))


def variant_differences(board: Board, variant: Variant, metric: Metric) -> dict[str, Difference]:
    """Variant minus plain for each model that has both, on the tasks that both have."""
    plain, varied = board.of_suite(variant.plain.id), board.of_suite(variant.entry.id)
    models = [model for model in plain if model in varied]
    if not models:
        return {}
    rows = {f"{name} {m}": of[m] for name, of in (("plain", plain), ("varied", varied)) for m in models}
    sample = sample_of(variant.plain.id, metric, rows, list(rows))
    pairs = ((model, paired_difference(sample, len(models) + row, row)) for row, model in enumerate(models))
    return {model: difference for model, difference in pairs if difference}
