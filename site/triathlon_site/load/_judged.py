"""Which measured files were graded again, as the statements beside them say."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.store import VERIFIED, GradedAgain, ResultsFolder, how_to_grade_again, read_graded_again
from triathlon_site.load._aggregate import FileAggregate
from triathlon_site.load._files import RUNS
from triathlon_site.load._notice import Notice


def mark_judged_again(
    root: Path, files: Sequence[FileAggregate]
) -> tuple[tuple[FileAggregate, ...], list[Notice]]:
    """The files, marked where a statement names their present SHA-256, and what is wrong with statements."""
    statements: dict[str, GradedAgain] = {}
    notices: list[Notice] = []
    for model in sorted({file.model for file in files if _is_measured(file)}):
        try:
            if statement := read_graded_again(ResultsFolder(root), model):
                statements[model] = statement
        except UserError as error:
            place = f"{RUNS}/{model}/{VERIFIED}"
            notices.append(Notice(file=place, message=f"{error}; until then nothing of it is marked"))
    return tuple(_marked(files, statements)), notices


def _is_measured(file: FileAggregate) -> bool:
    return file.file.startswith(f"{RUNS}/")


def _marked(files: Sequence[FileAggregate], statements: dict[str, GradedAgain]) -> Iterator[FileAggregate]:
    for file in files:
        statement = statements.get(file.model) if _is_measured(file) else None
        if statement is None or file.suite not in statement.sha256:
            yield file
        elif statement.sha256[file.suite] == file.sha256:
            yield replace(file, judged_again=statement.engine_version)
        else:
            message = (
                f"changed since it was graded again: expected SHA-256 {statement.sha256[file.suite]!r}"
                f" ({VERIFIED}), got {file.sha256!r}; it is not marked as graded again;"
                f" {how_to_grade_again(file.model)}"
            )
            yield replace(file, notices=(*file.notices, Notice(file=file.file, message=message)))
