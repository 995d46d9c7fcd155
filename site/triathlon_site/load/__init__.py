"""Reading `results/runs/` and `results/recorded/`.

One pass over each file, kept between builds, and a notice for each fault.
"""

from triathlon_site.load._aggregate import (
    NO_PROTOCOL,
    Columns,
    Extracts,
    FileAggregate,
    Parts,
    TaskResult,
)
from triathlon_site.load._files import Notice, suite_ids
from triathlon_site.load._results import (
    AggregateCache,
    Results,
    code_fingerprint,
    file_state,
    read_results,
    read_units,
)
