"""The results folder: one JSONL file a model and suite, appended line by line, resumed by default."""

from triathlon_runner.store._archive import Archived, archive, archived
from triathlon_runner.store._compare import Change, compare_files
from triathlon_runner.store._file import ResultsFile
from triathlon_runner.store._folder import IMPORTED, ResultsFolder
from triathlon_runner.store._lines import (
    Unit,
    read_lines,
    read_records,
    replace_file,
    set_torn_line_aside,
)

__all__ = [
    "IMPORTED",
    "Archived",
    "Change",
    "ResultsFile",
    "ResultsFolder",
    "Unit",
    "archive",
    "archived",
    "compare_files",
    "read_lines",
    "read_records",
    "replace_file",
    "set_torn_line_aside",
]
