"""A file's aggregate without a file."""

from collections.abc import Mapping

import numpy as np

from triathlon_runner.records import Usage
from triathlon_site.load import NO_PROTOCOL, Columns, FileAggregate, Parts


def aggregate(
    model: str,
    suite: str,
    metrics: Mapping[str, Mapping[str, float]] | None = None,
    *,
    outcomes: Mapping[str, int] | None = None,
    usage: Usage | None = None,
) -> FileAggregate:
    """Of units that ended so; each metric has these numerators by task."""
    parts = {
        name: Parts(
            clusters=tuple(sorted(own)),
            numerators=np.array([own[task] for task in sorted(own)]),
            denominators=np.ones(len(own)),
        )
        for name, own in (metrics or {}).items()
    }
    ended = [name for name, count in (outcomes or {"passed": 1}).items() for _ in range(count)]
    zeros = np.zeros(len(ended), np.int64)
    columns = Columns(
        task=[f"task {place}" for place in range(len(ended))],
        sample=zeros,
        outcome=ended,
        parents=[],
        replies=zeros,
        cut_replies=zeros,
        scores={},
    )
    return FileAggregate(
        model=model,
        suite=suite,
        file="",
        sha256="",
        protocol=NO_PROTOCOL,
        manifest=None,
        columns=columns,
        usage=usage or Usage(),
        seconds=0.0,
        metrics=parts,
        repeats={},
        notices=(),
    )
