"""A file's aggregate without a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from triathlon_runner.records import Usage
from triathlon_site.load import NO_PROTOCOL, FileAggregate, Parts


def aggregate(
    model: str,
    suite: str,
    metrics: Mapping[str, Mapping[str, float]] | None = None,
    *,
    outcomes: Mapping[str, int] | None = None,
    usage: Usage | None = None,
    seconds: float = 0.0,
) -> FileAggregate:
    """Of units that ended so; each metric has these numerators by task. The first unit took everything."""
    parts = {
        name: Parts(
            clusters=tuple(sorted(own)),
            numerators=np.array([own[task] for task in sorted(own)]),
            denominators=np.ones(len(own)),
        )
        for name, own in (metrics or {}).items()
    }
    ended = [name for name, count in (outcomes or {"passed": 1}).items() for _ in range(count)]
    zeros = [0] * len(ended)
    columns: dict[str, list[Any]] = {
        "task": [f"task {place}" for place in range(len(ended))],
        "sample": zeros,
        "outcome": ended,
        **{name: [count, *zeros[1:]] for name, count in (usage or Usage())},
        "seconds": [seconds, *zeros[1:]],
        "replies": zeros,
        "cut_replies": zeros,
    }
    return FileAggregate(
        model=model,
        suite=suite,
        file="",
        sha256="",
        protocol=NO_PROTOCOL,
        manifest=None,
        frame=pd.DataFrame(columns),
        metrics=parts,
        repeats={},
        notices=(),
    )
