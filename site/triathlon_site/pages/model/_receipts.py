"""Receipts: where each number of a model comes from, and how to verify it."""

import shlex
from dataclasses import dataclass

from triathlon_site.evidence import receipt_anchor
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo


@dataclass(frozen=True)
class Receipt:
    """What one results file holds, and the command that verifies it."""

    file: FileAggregate
    anchor: str
    verify: str
    passed: int


def receipt(file: FileAggregate, info: ModelInfo) -> Receipt:
    """The receipt of one results file."""
    return Receipt(
        file,
        receipt_anchor(file.suite),
        f"triathlon verify --models {shlex.quote(info.id)} --suites {shlex.quote(file.suite)}",
        file.outcomes.get("passed", 0),
    )
