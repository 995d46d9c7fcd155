"""What an export is made of: one model's results on one suite, with its scores and records."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from triathlon_runner.records import Manifest, UnitRecord
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load import FileAggregate, read_units
from triathlon_site.models import ModelInfo
from triathlon_site.scores import Board, Column, Score

HUB = "https://huggingface.co/"
EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The first date that a zip can hold, for files that no clock may change."""


@dataclass(frozen=True)
class Source:
    """One model on one suite."""

    info: ModelInfo
    entry: SuiteEntry
    file: FileAggregate
    scores: tuple[tuple[Column, Score], ...]
    """Of the columns that this suite alone makes up, the headline first."""
    root: Path | None = None
    """The results folder; None where scores alone are wanted and no line is read."""
    url: str = ""
    """Where the site with these scores is published; empty where it is not known."""

    @property
    def manifest(self) -> Manifest:
        """The file's manifest; `usable` tells whether there is one."""
        if self.file.manifest is None:
            raise ValueError(f"{self.file.file} has no manifest; expected one for every source of an export")
        return self.file.manifest

    @property
    def with_texts(self) -> bool:
        """Whether prompts and replies may be handed on: asked for here, on tasks that are not private."""
        private = self.manifest.private or self.entry.private
        return self.file.receipt is None and self.manifest.origin is None and not private

    @property
    def repository(self) -> str:
        """`owner/name` on the Hugging Face hub where models.yaml links there, else organisation and id."""
        link = self.info.link or ""
        parts = link.removeprefix(HUB).strip("/").split("/")
        if link.startswith(HUB) and len(parts) == 2:
            return "/".join(parts)
        return f"{folder_name(self.info.organization or 'unknown')}/{self.info.id}"

    @property
    def on_hub(self) -> bool:
        """Whether `repository` is a repository of the Hugging Face hub."""
        return (self.info.link or "").startswith(HUB)

    @property
    def time(self) -> str:
        """When the last result came, in seconds since 1970; of recorded results the day of the source.

        No clock is read: the same results give the same files.
        """
        return epoch(self.manifest.ended or self.manifest.started)

    def records(self) -> Iterator[UnitRecord]:
        """The lines that count, as records; of recorded results without texts."""
        if self.root is None:
            raise ValueError(
                f"{self.file.file}: expected the results folder to read its lines from, got none"
            )
        protocol = self.file.protocol
        records = read_units(self.root, self.file, self.entry)
        return (record for record in records if record.protocol == protocol)


def epoch(moment: str) -> str:
    """Seconds since 1970 of `YYYY-MM`, a day or a time in UTC; "0" where there is none."""
    if not moment:
        return "0"
    whole = moment + "-01" if len(moment) == len("2025-10") else moment
    time = datetime.fromisoformat(whole)
    return str(int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()))


def uuid_of(name: str) -> str:
    """A UUID in the form of version 4 that is the same for the same name."""
    return str(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))


def folder_name(text: str) -> str:
    """Letters, digits, `.`, `_` and `-`; everything else becomes `-`."""
    name = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "-" for char in text)
    return name.strip("-.") or "unknown"


def scores_of(boards: Sequence[Board], model: str, suite: str) -> Iterator[tuple[Column, Score]]:
    """A model's score in each column that is made of this suite alone."""
    for board in boards:
        for column in board.columns:
            alone = all(part == suite for part, _ in column.column.parts)
            if alone and model in column.scores:
                yield column.column, column.scores[model]


def sources_of(
    files: Iterable[FileAggregate],
    boards: Sequence[Board],
    models: Mapping[str, ModelInfo],
    find: Callable[[str], SuiteEntry | None],
    root: Path | None = None,
    url: str = "",
) -> list[Source]:
    """What can be exported of these files, by model, then suite; `find` returns a suite of this id."""
    sources = []
    for file in files:
        entry = find(file.suite)
        if file.units and file.manifest and entry:
            scores = tuple(scores_of(boards, file.model, file.suite))
            sources.append(Source(models[file.model], entry, file, scores, root, url))
    return sorted(sources, key=lambda source: (source.info.id, source.entry.id))
