"""Registered models that were not run where the results were made."""

from collections.abc import Mapping
from dataclasses import dataclass

from triathlon_site.load import Results
from triathlon_site.models import ModelInfo


@dataclass(frozen=True)
class Skipped:
    """A registered model that was not run here."""

    info: ModelInfo
    reason: str


def skipped_models(results: Results, models: Mapping[str, ModelInfo]) -> list[Skipped]:
    """The registered models that were not run here."""
    return [
        Skipped(models.get(skipped.model, ModelInfo(skipped.model, skipped.model)), skipped.reason)
        for skipped in results.skipped
    ]
