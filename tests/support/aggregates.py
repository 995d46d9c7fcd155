"""A file's aggregate without a file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from triathlon_runner.records import Usage
from triathlon_site.load import FileAggregate, Parts, TaskResult, Tasks

_BARE = FileAggregate(
    model="",
    suite="",
    file="",
    sha256="",
    protocol="",
    manifest=None,
    tasks=Tasks.of([TaskResult("a", 0, "passed")]),
    outcomes={},
    usage=Usage(),
    seconds=0.0,
    other_protocols=0,
    metrics={},
    repeats={},
    notices=(),
)


def aggregate(
    model: str, suite: str, metrics: Mapping[str, Mapping[str, float]] | None = None, **fields: Any
) -> FileAggregate:
    """Of one unit; each metric has these numerators by task."""
    parts = {
        name: Parts(
            clusters=tuple(sorted(own)),
            numerators=tuple(own[task] for task in sorted(own)),
            denominators=(1.0,) * len(own),
        )
        for name, own in (metrics or {}).items()
    }
    return replace(_BARE, model=model, suite=suite, metrics=parts, **fields)
