"""Results that an earlier run or gate has left: they are compared without being asked again."""

from collections.abc import Iterator

from triathlon_runner.errors import UserError
from triathlon_runner.records import UnitRecord
from triathlon_runner.schedule import Work, differs
from triathlon_runner.store import ResultsFile, ResultsFolder, read_records


def stored_records(folder: ResultsFolder, work: Work) -> Iterator[UnitRecord]:
    """Yields the first samples of one model and suite in the results folder.

    Raises:
        UserError: they were made under other conditions, or cannot be read.
    """
    model, suite = work.row.id, work.suite_id
    path, record = folder.lines(model, suite), work.built.entry.record
    file = ResultsFile(path, record)
    file.scan()
    if why := differs(work, file, folder.read_manifest(model, suite)):
        raise UserError(
            f"{model} {suite}: expected results of the conditions that a run has now, got those of {why};"
            f" put them aside with {folder.archive_command(model, suite)}, or name another --results"
        )
    return (stored for stored in read_records(path, record) if stored.sample == 0)
