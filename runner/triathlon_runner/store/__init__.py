"""The results folder: one JSONL file a model and suite, appended line by line, resumed by default.

What cannot be read or written is a `UserError` that names file and line; what was there stays as it was.
"""

from triathlon_runner.store._folder import (
    IMPORTED,
    VERIFIED,
    Change,
    ResultsFolder,
    UnreadableManifestError,
    archive,
    archived,
    compare_files,
    graded_again_statement,
    how_to_grade_again,
    manifest_or_fault,
    read_graded_again,
    refuse_second_writer,
)
from triathlon_runner.store._lines import (
    MAKE_MISSING,
    RUN_AGAIN,
    ContradictingLineError,
    DamagedLineError,
    ResultsFile,
    Unit,
    append_line,
    count_lines,
    is_stream,
    read_records,
    read_undamaged_records,
    replace_file,
    set_torn_line_aside,
)
from triathlon_runner.store._recorded import RecordedFile, recorded_files
