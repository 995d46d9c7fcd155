"""`recorded/sources.yaml`: where recorded results come from."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED, ProtocolHashes, Strict
from triathlon_runner.suites import Suite
from triathlon_runner.yaml_file import matching, read, validated

FILE: Final = "sources.yaml"
Id = Annotated[str, AfterValidator(matching(r"[a-z0-9][a-z0-9._-]*", "lower-case letters, digits, . _ -"))]
Day = Annotated[str, AfterValidator(matching(r"|\d{4}-\d{2}(-\d{2})?", "YYYY-MM or YYYY-MM-DD in quotes"))]


class Source(Strict):
    """One publication of recordings."""

    id: Id
    """Folder of its results inside `recorded/`."""
    title: str
    address: str
    """Where the files are, as a web address."""
    commit: str
    date: Day = ""
    """Of the recordings; empty where it is not known."""
    licence: str
    """In the source's words."""
    suites: Annotated[tuple[str, ...], Field(strict=False)]
    """Suites that the recordings are imported into where the command names none."""
    note: str = ""
    asked_as_suites: bool = False
    """Whether the models were asked as `suites` ask; else the source is a protocol of its own."""
    models: dict[str, str] = Field(default_factory=dict)
    """Model ids by the names in the source's files, for the names that are not the id: the id of the same
    model in another source, or a new id where it is not certain that it is the same model."""

    def settings(self, suite: Suite) -> dict[str, str]:
        """Returns the settings of its recordings on a suite."""
        hashes = ProtocolHashes.of(suite.protocol)
        asked = hashes.asked if self.asked_as_suites else self.id
        return {"recorded": self.id, "asked": asked, "graded": hashes.graded}


class _Sources(Strict):
    sources: Annotated[tuple[Source, ...], Field(min_length=1, strict=False)]


def read_source(results: Path, source_id: str) -> Source:
    """Returns one source of `recorded/sources.yaml` in a results folder."""
    path = results / RECORDED / FILE
    if not path.is_file():
        raise UserError(f"expected {str(path)!r} with the source {source_id!r}, there is no such file")
    sources = validated(read(path), _Sources).sources
    for source in sources:
        if source.id == source_id:
            return source
    ids = ", ".join(source.id for source in sources)
    raise UserError(f"{path}: expected a source {source_id!r}, got {ids}; add it or name one of these")
