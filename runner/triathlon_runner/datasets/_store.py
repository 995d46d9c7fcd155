"""Reads pinned data files from a folder or the cache, and downloads what is missing."""

import ast
import hashlib
import os
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import UnreadableFileError, unpacked

_TIMEOUT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3


class DataUnavailableError(UserError):
    """A data set is neither in the data folder nor in the cache and could not be fetched."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a data set, pinned."""

    name: str
    """Its name in the data folder, where `<name>.gz` is read too, and in the cache."""
    url: str
    sha256: str
    """Of the file's bytes, or of its content whether that is compressed or not."""
    version: str
    licence: str
    literal: str = ""
    """Name of the text in the Python file at `url` that is the content; empty where the file is."""

    def verified(self, data: bytes, place: str) -> bytes:
        """The content of `data`, decompressed, or an error that names what came instead."""
        digest = hashlib.sha256(data).hexdigest()
        with suppress(UnreadableFileError):
            content = unpacked(data)
            if self.sha256 in (digest, hashlib.sha256(content).hexdigest()):
                return content
        raise DataUnavailableError(
            f"{place} is not the data file {self.name!r} of {self.version}: expected SHA-256 {self.sha256},"
            f" got {digest}. Remove it or replace it by the one from {self.url}"
        )

    def literal_in(self, source: bytes) -> bytes:
        """The text that the Python file at `url` gives the name `literal`; nothing of it is executed."""
        with suppress(SyntaxError, ValueError):
            for statement in ast.parse(source).body:
                match statement:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                        if name == self.literal:
                            return text.encode()
        raise DataUnavailableError(
            f"{self.url} is not the file that holds {self.name!r}: expected a text named {self.literal!r},"
            " got none; put the text into that file in the folder that --data names"
        )


@dataclass(frozen=True, slots=True)
class DataStore:
    """The folder that a user names (`--data`, `TRIATHLON_DATA`) and the cache of downloads."""

    cache: Path
    folder: Path | None = None
    fetch: bool = True
    """False: never use the network (as where suites are listed)."""

    def read(self, file: DataFile) -> bytes:
        """The content of a data file, decompressed: from the folder, else the cache, else fetched."""
        path = self._in_folder(file)
        if path is not None:
            return file.verified(path.read_bytes(), repr(str(path)))
        cached = self.cache / file.name
        if cached.is_file():
            with suppress(DataUnavailableError) if self.fetch else nullcontext():
                return file.verified(cached.read_bytes(), repr(str(cached)))
        if not self.fetch:
            raise DataUnavailableError(self._missing(file, "and fetching is switched off"))
        return self._download(file, cached)

    def has(self, file: DataFile) -> bool:
        """Whether the file is there without asking the network; its hash is not checked."""
        return self._in_folder(file) is not None or (self.cache / file.name).is_file()

    def _in_folder(self, file: DataFile) -> Path | None:
        if self.folder is None:
            return None
        paths = (self.folder / file.name, self.folder / f"{file.name}.gz")
        return next(filter(Path.is_file, paths), None)

    def _missing(self, file: DataFile, why: str) -> str:
        places = [f"the folder {str(self.folder)!r}"] if self.folder is not None else []
        places.append(f"the cache {str(self.cache)!r}")
        return (
            f"The data file {file.name!r} is not in {' nor in '.join(places)}, {why}. Put it into a folder "
            f"and name that with --data or TRIATHLON_DATA; it comes from {file.url}"
        )

    def _download(self, file: DataFile, target: Path) -> bytes:
        """The content of a downloaded file; it gets its name only after it was verified."""
        import httpx2  # noqa: PLC0415  takes long to import, and few commands fetch

        draft = target.with_name(f"{target.name}.{os.getpid()}.part")
        try:
            data = fetch(file.url)
            data = file.literal_in(data) if file.literal else data
            content = file.verified(data, file.url)
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(data)
            draft.replace(target)
        except httpx2.HTTPError as error:
            why = f"and fetching it failed ({type(error).__name__}: {error})"
            raise DataUnavailableError(self._missing(file, why)) from error
        except OSError as error:
            why = f"and the cache can't be written ({error})"
            raise DataUnavailableError(self._missing(file, why)) from error
        finally:
            with suppress(OSError):
                draft.unlink()
        return content


def fetch(url: str) -> bytes:
    """Returns the content at `url`.

    Raises:
        httpx2.HTTPError: the server cannot be reached or refuses, after some attempts.
    """
    import httpx2  # noqa: PLC0415
    import stamina  # noqa: PLC0415

    stamina.instrumentation.set_on_retry_hooks([])  # only the last error is reported
    attempts = stamina.retry_context(
        on=httpx2.TransportError, attempts=_ATTEMPTS, wait_initial=0.2, wait_max=5.0, timeout=120.0
    )
    for attempt in attempts:
        with attempt:
            response = httpx2.get(url, follow_redirects=True, timeout=_TIMEOUT_SECONDS)
    return response.raise_for_status().content
