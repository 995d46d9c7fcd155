"""Other people's logs become our records: their replies, graded here, marked with where they come from.

A log of another shape, and results that cannot be written, are `UserError`s that name file and line.
"""

from triathlon_runner.imports._formats import (
    FORMATS,
    Format,
    Source,
    logs_at,
    model_of,
    read_source,
    with_filter,
)
from triathlon_runner.imports._import import Import, ImportReport, import_log
from triathlon_runner.imports._readers import (
    REPORTED,
    GradedOutputs,
    cruxeval_model_and_suite,
    read_livecodebench,
)
from triathlon_runner.imports._units import graded_again
