"""The results folder: where lines lie, who may write them, its archive, what was graded again in it."""

import json
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import as_utf8, parse_json, why_no_file, why_not_plain
from triathlon_runner.records import SCHEMA_VERSION, Manifest
from triathlon_runner.store._lines import Ended, Unit, read_records, replace_file, validation_fault

M = TypeVar("M", bound=Manifest)
_DEFAULT_ROOT: Final = Path("results")
_ARCHIVE: Final = "archive"
IMPORTED: Final = "imported"
"""Folder inside the results folder; below it everything lies as in the results folder itself."""
VERIFIED: Final = "verified.json"
"""In a model's folder: the statement that its results were graded again."""


class UnreadableManifestError(UserError):
    """A manifest that is damaged, or that a newer version wrote: the conditions of its lines are unknown."""


@contextmanager
def refuse_second_writer(path: Path, what: str, option: str) -> Iterator[None]:
    """Locks `what` against a second writer by this file; `option` names another place to write to.

    Raises:
        UserError: another command writes there, or the file cannot be made.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  few commands lock

    lock = FileLock(path, blocking=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise UserError(
            f"another triathlon command is writing {what}; wait for it or pass another {option}"
        ) from None
    except OSError as error:
        raise UserError(
            f"cannot lock {str(path)!r} ({error.strerror}); make it writable or pass {option}"
        ) from None
    try:
        yield
    finally:
        lock.release()


class ResultsFolder:
    """`results/`: where the lines of each model and suite lie."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def of_model(self, model: str) -> Path:
        """The folder of a model's results."""
        return self.root / "runs" / model

    def lines(self, model: str, suite: str) -> Path:
        return self.of_model(model) / f"{suite}.jsonl"

    def manifest(self, model: str, suite: str) -> Path:
        return self.of_model(model) / f"{suite}.manifest.json"

    def verified(self, model: str) -> Path:
        """The statement which of the model's files were graded again after they were handed in."""
        return self.of_model(model) / VERIFIED

    @property
    def option(self) -> str:
        """The option with which a command uses this folder: ` --results FOLDER`; empty for the default."""
        return "" if self.root == _DEFAULT_ROOT else f" --results {shlex.quote(str(self.root))}"

    def archive_command(self, model: str, suite: str) -> str:
        """The command that archives the results of one model and suite."""
        names = f"--models {shlex.quote(model)} --suites {shlex.quote(suite)}"
        return f"`triathlon results archive {names}{self.option}`"

    def check_is_there(self) -> None:
        """Raises a UserError where there is no such folder."""
        if not self.root.is_dir():
            raise UserError(
                f"expected a folder of results at {str(self.root)!r}, there is none;"
                " run `triathlon run` first or name another with --results"
            )

    def check_writable(self) -> None:
        """Checks that the folder can be written, before money is spent."""
        probe = self.root / "runs" / f".probe-{os.getpid()}"
        try:
            probe.parent.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise UserError(
                f"cannot write to the results folder {str(self.root)!r} ({error.strerror}); name another"
                " one with --results"
            ) from None

    @contextmanager
    def locked(self, model: str) -> Iterator[None]:
        """Locks the files of this model against a second runner."""
        path = self.root / ".locks" / f"{model}.lock"
        with refuse_second_writer(path, f"the results of {model!r} in {str(self.root)!r}", "--results"):
            yield

    def about_missing_manifest(self, model: str, suite: str) -> str:
        """Returns what the lack of a manifest means, and what to do about it."""
        archive = self.archive_command(model, suite)
        remedy = f"`triathlon run` counts them and writes a new one, {archive} puts them aside"
        if self.root.name == IMPORTED:
            remedy = "import the log again"
        return (
            f"no manifest beside {str(self.lines(model, suite))!r}: the conditions that its lines were made"
            f" under are unknown; {remedy}"
        )

    def files(self, *, skip_others: bool = False) -> Iterator[tuple[str, str]]:
        """Yields (model, suite) of every results file, in order."""
        runs = self.root / "runs"
        for path in sorted(runs.glob("*/**/*.jsonl")):
            model, *parts = path.relative_to(runs).with_suffix("").parts
            suite = "/".join(parts)
            if not (fault := self.fault_of_place(model, suite)):
                yield model, suite
            elif not skip_others:
                raise UserError(fault)

    def fault_of_place(self, model: str, suite: str) -> str:
        """Returns why a results file cannot be read, or made, where it belongs: a link is not followed."""
        path = self.lines(model, suite)
        start = self.root.parent if self.root.name == IMPORTED else self.root
        deepest = next(part for part in (path, *path.parents) if os.path.lexists(part))
        if not deepest.is_relative_to(start):  # there is no results folder yet
            return ""
        why = why_not_plain(deepest, start) or ("a folder" if deepest == path and path.is_dir() else "")
        return f"expected a plain file of results at {str(path)!r}, got {why}; move it away" if why else ""

    def manifests(self) -> Iterator[Manifest]:
        """Yields every manifest that can be read."""
        found = (manifest_or_fault(self.manifest(*names), *names) for names in self.files())
        yield from (manifest for manifest in found if isinstance(manifest, Manifest))

    def write_manifest(self, manifest: Manifest) -> None:
        document = manifest.model_dump(mode="json", by_alias=True)
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        replace_file(self.manifest(manifest.model, manifest.suite), text)

    def read_manifest(self, model: str, suite: str) -> Manifest | None:
        """Returns the manifest of a results file; None where there is none."""
        path = self.manifest(model, suite)
        found = manifest_or_fault(path, model, suite)
        if isinstance(found, str):
            raise UnreadableManifestError(
                f"the manifest {str(path)!r} cannot be used: {found}; the conditions of its lines are"
                " unknown. Update the program, fix the manifest, or put both files aside with"
                f" {self.archive_command(model, suite)}"
            )
        return found


def manifest_or_fault(path: Path, model: str, suite: str) -> Manifest | str | None:
    """Returns the manifest in a file, or why it cannot be used, in words; None where there is no file."""
    if not os.path.lexists(path):
        return None
    return read_manifest_file(path, path.parent, model, suite, Manifest)


def read_manifest_file(path: Path, root: Path, model: str, suite: str, schema: type[M]) -> M | str:
    """Returns the manifest in a file of a folder, or why it cannot be used, in words."""
    # a link leads anywhere, and reading a pipe would wait for ever
    if why := why_no_file(path, root):
        return f"it is no plain file ({why})"
    try:
        content = as_utf8(path.read_bytes())
        document = parse_json(content)
        if not isinstance(document, dict):
            raise ValueError(f"got {str(document)[:40]!r}")
        version = document.get("schema", document.get("schema_version", SCHEMA_VERSION))
        if version != SCHEMA_VERSION:
            return f"it has schema {version!r}, this version of the program reads {SCHEMA_VERSION}"
        manifest = schema.model_validate_json(content)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    except ValidationError as error:
        return validation_fault(error)
    except ValueError as error:
        return f"it is no JSON object ({error})"
    is_asked = (manifest.model, manifest.suite) == (model, suite)
    return manifest if is_asked else f"it is that of {manifest.model!r} on {manifest.suite!r}"


def archive(folder: ResultsFolder, model: str, suite: str, *, copy: bool = False) -> Path:
    """Moves a results file and its manifest to `archive/<model>/<suite>/<protocol>-<number>.jsonl`.

    No file in the archive is replaced: the number is one above the highest in use. The caller holds the
    model's lock. `copy`: both files stay in place as well. Returns the path of the lines.
    """
    source, manifest = folder.lines(model, suite), folder.manifest(model, suite)
    if not source.exists():
        raise UserError(
            f"no results of {model!r} on {suite!r} in {str(folder.root)!r}; see `triathlon results list`"
        )
    found = manifest_or_fault(manifest, model, suite)
    stem = str(found.protocol) if isinstance(found, Manifest) else "unknown"
    place = folder.root / _ARCHIVE / model / suite
    names = re.compile(re.escape(stem) + r"-(\d+)\.(jsonl|manifest\.json)")
    matches = [names.fullmatch(path.name) for path in place.glob("*")]
    number = max((int(match[1]) for match in matches if match), default=0) + 1
    lines = place / f"{stem}-{number}.jsonl"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for old, new in ((manifest, lines.with_suffix(".manifest.json")), (source, lines)):
            if copy and old.exists():
                replace_file(new, old.read_bytes())
            elif old.exists():
                old.rename(new)
    except OSError as error:
        raise UserError(f"cannot move {str(source)!r} to {str(lines)!r}: {error.strerror}") from None
    return lines


def archived(folder: ResultsFolder) -> Iterator[tuple[str, str, Path]]:
    """Yields model, suite and lines of all archived files, in order; no run goes on with them."""
    root = folder.root / _ARCHIVE
    for path in sorted(root.glob("*/**/*.jsonl")):
        if not why_not_plain(path, folder.root):
            model, *suite = path.relative_to(root).parent.parts
            yield model, "/".join(suite), path


@dataclass(frozen=True, slots=True)
class Change:
    """A unit that ended differently in two files, in words; None for a file without the unit."""

    task_id: str
    sample: int
    before: str | None
    after: str | None


def compare_files(first: Path, second: Path) -> list[Change]:
    """Returns the units that differ, in the order of the first file, then of the second.

    Raises:
        UserError: a damaged line, or lines of two suites; variants of one can be compared.
    """
    before, after = dict[Unit, str](), dict[Unit, str]()
    suites = set()
    for path, outcomes in ((first, before), (second, after)):
        for record in read_records(path, Ended):
            outcomes[record.task_id, record.sample] = str(record)
            suites.add(record.suite.partition("@")[0])
    if len(suites) > 1:
        raise UserError(
            f"expected two files of one suite, got those of {' and '.join(map(repr, sorted(suites)))}"
        )
    return [
        Change(*unit, before.get(unit), after.get(unit))
        for unit in {**before, **after}
        if before.get(unit) != after.get(unit)
    ]


@dataclass(frozen=True, slots=True)
class GradedAgain:
    """The files of one model that were graded again with the same result."""

    engine_version: int
    sha256: Mapping[str, str]
    """Of each suite's file, as it was then."""


def graded_again_statement(
    model: str, engine_version: int, sha256: Mapping[str, str], passed: Collection[str], *, result: bool
) -> dict[str, Any]:
    """Returns an unsigned in-toto Statement (version 1) with a `test-result` predicate (version 0.1).

    `sha256`: of the file of each suite. `passed`: suites that are whole and have no problem. `result`:
    whether the whole submission is so.
    """
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": f"runs/{model}/{suite}.jsonl", "digest": {"sha256": digest}}
            for suite, digest in sha256.items()
        ],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": "PASSED" if result else "FAILED",
            "configuration": [{"name": "triathlon-engine", "annotations": {"version": str(engine_version)}}],
            "passedTests": [suite for suite in sha256 if suite in passed],
            "failedTests": [suite for suite in sha256 if suite not in passed],
        },
    }


def read_graded_again(folder: ResultsFolder, model: str) -> GradedAgain | None:
    """Returns what a model's `verified.json` says; None where there is none."""
    path = folder.verified(model)
    if not path.exists():
        return None
    got: object = "no plain file"  # a link leads anywhere, a pipe waits
    if not why_not_plain(path, path.parent) and path.is_file():
        try:
            got = "no JSON"
            got = document = parse_json(path.read_bytes())
            predicate, prefix = document["predicate"], f"runs/{model}/"
            version = int(predicate["configuration"][0]["annotations"]["version"])
            sha256 = {
                file["name"].removeprefix(prefix).removesuffix(".jsonl"): file["digest"]["sha256"]
                for file in document["subject"]
            }
            passed, result = predicate["passedTests"], predicate["result"] == "PASSED"
            if document == graded_again_statement(model, version, sha256, passed, result=result):
                return GradedAgain(version, {suite: sha256[suite] for suite in passed})
        except (AttributeError, LookupError, OSError, TypeError, ValueError, OverflowError):
            pass
    raise UserError(
        f"expected the statement of `triathlon submit check` about the results of {model!r}, got"
        f" {got!r:.120}; {how_to_grade_again(model)}"
    )


def how_to_grade_again(model: str) -> str:
    """Returns how to write a model's `verified.json` anew, wherever the results lie."""
    return (
        f"`triathlon submit check DIR --statement DIR/{VERIFIED}` writes it anew, with the folder"
        f" runs/{model} of these results as DIR"
    )
