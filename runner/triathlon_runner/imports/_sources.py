"""`recorded/sources.yaml`: whose recordings are filed, and what is known of them."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationError

from triathlon_runner import yaml_file
from triathlon_runner.config_errors import matching
from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED, Strict

FILE: Final = "sources.yaml"
Id = Annotated[str, AfterValidator(matching(r"[a-z0-9][a-z0-9._-]*", "lower-case letters, digits, . _ -"))]
Day = Annotated[str, AfterValidator(matching(r"|\d{4}-\d{2}(-\d{2})?", "YYYY-MM or YYYY-MM-DD in quotes"))]


class Source(Strict):
    """Recordings that somebody published."""

    id: Id
    """Folder of its results inside `recorded/`."""
    title: str
    address: str
    """Where the files are, as a web address."""
    commit: str
    date: Day = ""
    """Of what was taken; empty where it is not known."""
    licence: str
    """As found, in words."""
    suites: tuple[str, ...]
    """What the recordings are imported into where the command names no suite."""
    note: str = ""
    models: dict[str, str] = Field(default_factory=dict)
    """Ids to file results under, by the names that the source's files have, where these are others: the id of
    the same model in another source, or a new one where it is not certain that one name means one model."""


class _Sources(Strict):
    sources: tuple[Source, ...] = Field(min_length=1)


def read_source(results: Path, source_id: str) -> Source:
    """Returns one source of `recorded/sources.yaml` in a results folder.

    Raises:
        UserError: there is no such file or source, or the file says something else.
    """
    path = results / RECORDED / FILE
    if not path.is_file():
        raise UserError(f"expected {str(path)!r} with the source {source_id!r}, there is no such file")
    file = yaml_file.read(path)
    try:
        sources = _Sources.model_validate(file.content, strict=False).sources
    except ValidationError as error:
        fault = error.errors()[0]
        where = f"{path}, line {file.line(fault['loc'])}: {'.'.join(map(str, fault['loc']))}"
        raise UserError(f"{where}: {fault['msg']}, got {fault['input']!r:.80}; mend the file") from None
    for one in sources:
        if one.id == source_id:
            return one
    ids = ", ".join(one.id for one in sources)
    raise UserError(f"{path}: expected a source {source_id!r}, got {ids}; add it or name one of these")
