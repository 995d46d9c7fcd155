"""Other people's logs become our records: their replies, graded here, marked with where they come from."""

from triathlon_runner.imports._formats import FORMATS, Format, logs_at, model_of, with_filter
from triathlon_runner.imports._grade import graded_again
from triathlon_runner.imports._import import ImportReport, import_log, settings_of
from triathlon_runner.imports._livecodebench import REPORTED, file_livecodebench
from triathlon_runner.imports._recorded import Recording, import_recording
from triathlon_runner.imports._sources import Source, read_source
from triathlon_runner.imports._verdict_cache import CachingGrader, VerdictCache

__all__ = [
    "FORMATS",
    "REPORTED",
    "CachingGrader",
    "Format",
    "ImportReport",
    "Recording",
    "Source",
    "VerdictCache",
    "file_livecodebench",
    "graded_again",
    "import_log",
    "import_recording",
    "logs_at",
    "model_of",
    "read_source",
    "settings_of",
    "with_filter",
]
