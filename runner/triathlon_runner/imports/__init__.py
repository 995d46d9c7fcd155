"""Other people's logs become our records: their replies, our judgement, marked with where they come from."""

from triathlon_runner.imports._formats import FORMATS, Format
from triathlon_runner.imports._import import ImportReport, import_log, settings_of
from triathlon_runner.imports._judge import judged_again

__all__ = ["FORMATS", "Format", "ImportReport", "import_log", "judged_again", "settings_of"]
