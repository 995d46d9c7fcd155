"""What an export is made of: one model's results on one suite, with its scores and records."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.cli import Chosen
from triathlon_runner.errors import UserError
from triathlon_runner.records import Manifest, ProgramRecord, UnitRecord
from triathlon_runner.suites import SuiteEntry
from triathlon_site.load import FileAggregate, read_units
from triathlon_site.models import ModelInfo, Models
from triathlon_site.ranking import Score
from triathlon_site.render import formats
from triathlon_site.scores import Board, Column

_OTHER_PAGES: Final = (
    "api blog chat collections datasets docs enterprise inference join learn login models new organizations"
    " papers posts pricing settings spaces support tasks"
)
"""Beginnings of the hub's addresses that lead to no model."""
_HUB_REPOSITORY: Final = re.compile(
    rf"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/(?!(?:{_OTHER_PAGES.replace(' ', '|')})/)"
    r"([\w.-]+/[\w.-]+)(?=[/?#]|$)",
    re.ASCII,
)
"""The address of a model, or of a page of it such as `…/tree/main`; in parentheses `owner/name`."""


@dataclass(frozen=True)
class Source:
    """One model on one suite."""

    info: ModelInfo
    entry: SuiteEntry
    file: FileAggregate
    manifest: Manifest
    scores: tuple[tuple[Column, Score], ...]
    """Of the columns that this suite alone makes up, the headline first."""
    root: Path
    """The results folder."""
    url: str
    """Where the site with these scores is published; empty where it is not known."""

    @property
    def with_texts(self) -> bool:
        """Whether prompts and replies may be handed on: asked for here, on tasks that are not private."""
        private = self.manifest.private or self.entry.private
        return self.file.kept is None and self.manifest.origin is None and not private

    @property
    def hub_repository(self) -> str:
        """`owner/name` on the Hugging Face hub, where the model's link leads there; else empty."""
        match = _HUB_REPOSITORY.match(self.info.link or "")
        return match[1] if match else ""

    @property
    def repository(self) -> str:
        """`owner/name` on the hub, else organisation and id."""
        return self.hub_repository or f"{folder_name(self.info.organization or 'unknown')}/{self.info.id}"

    @property
    def time(self) -> str:
        """When the last result came, in seconds since 1970; of recorded results the day of the source
        (of a year alone its middle).

        `0` where that is not known. No clock is read: the same results give the same files.
        """
        moment = self.manifest.ended or self.manifest.started
        is_day = len(moment) <= len("2025-10-30")
        time = datetime.fromisoformat(formats.timestamp(moment) if is_day else moment)
        return str(int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()))

    @property
    def id(self) -> str:
        """`suite/model/time`, the form of Every Eval Ever's `evaluation_id`."""
        return f"{self.entry.id}/{self.repository}/{self.time}"

    def records(self) -> Iterator[UnitRecord]:
        """The lines that count, as records; of recorded results without texts."""
        for record in read_units(self.root, self.file, self.entry):
            if record.protocol == self.file.protocol:
                yield record

    def programs(self) -> Iterator[ProgramRecord]:
        """The records that are single programs."""
        return (record for record in self.records() if isinstance(record, ProgramRecord))


def uuid_of(name: str) -> str:
    """A UUID in the form of version 4 that is the same for the same name."""
    return str(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))


def folder_name(text: str) -> str:
    """Letters, digits, `.`, `_` and `-`; everything else becomes `-`."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", text).strip("-.") or "unknown"


def sources_of(
    files: Iterable[FileAggregate],
    boards: Sequence[Board],
    models: Models,
    root: Path,
    wanted: Chosen | None = None,
    *,
    known: Catalogue = BUILT_IN,
    url: str = "",
) -> list[Source]:
    """What can be exported of these files, by model, then suite.

    Args:
        files: results with their scores on these boards, read from the folder `root`.
        boards: with the scores.
        models: with the facts.
        root: the results folder.
        wanted: left out, all results.
        known: the suites that there are.
        url: where the site is published.

    Raises:
        UserError: there are no results, or none of a model or suite that is wanted.
    """
    wanted = wanted or Chosen()
    held = [(file, file.manifest) for file in files if file.units and file.manifest]
    if not held:
        raise UserError(f"no results to export in {str(root)!r}; `triathlon run` makes some")
    wanted.check((file.model for file, _ in held), (file.suite for file, _ in held))
    columns = [column for board in boards for column in board.columns]
    sources = []
    for file, manifest in held:
        if wanted.includes(file.model, [file.suite]) and (entry := known.find(file.suite)):
            scores = tuple(
                (column.column, score)
                for column in columns
                if set(column.column.suites) == {file.suite} and (score := column.shown(file.model))
            )
            # others' replies may be of other weights
            info = replace(models[file.model], bits=None) if file.receipt else models[file.model]
            sources.append(Source(info, entry, file, manifest, scores, root, url))
    return sorted(sources, key=lambda source: (source.info.id, source.entry.id))
