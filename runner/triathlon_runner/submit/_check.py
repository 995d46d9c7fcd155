"""Checks of a submission's files before anything is graded again."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from triathlon_runner import catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import why_not_plain
from triathlon_runner.pasted_keys import why_secret
from triathlon_runner.records import Manifest, UnitRecord, Usage
from triathlon_runner.schedule import Work
from triathlon_runner.store import (
    VERIFIED,
    DamagedLineError,
    ResultsFolder,
    UnreadableManifestError,
    read_records,
)
from triathlon_runner.terminal import counted

LEAST_CHARACTERS: Final = 0.2
MOST_CHARACTERS: Final = 30.0
"""Characters of replies, reasoning included, for each output token, over a whole file. Code and prose have
three to four a token; hidden reasoning has none, so that the lower bound is loose."""
MOST_TOKENS_A_SECOND: Final = 20_000
"""Output tokens of one request a second: ten times the fastest hosts."""
MODEL_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
SUITE_NAME: Final = re.compile(r"[a-z0-9._@+/-]{1,200}")
"""Names of suites as the catalogue and `run` make them."""
ENDINGS: Final = (".manifest.json", ".jsonl")


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a submission cannot be taken."""

    place: str
    """File, and line or unit where it is about one."""
    message: str
    """What was expected, what came, what to do."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The folder of one model's results."""

    folder: ResultsFolder
    model: str
    suites: tuple[str, ...]


def submission_at(path: Path) -> tuple[Submission, list[Problem]]:
    """Returns the results in `results/runs/<model>`, and a problem for each file that does not belong there.

    With a link or a pipe in the folder, or on the way to it from `results`, no suite is checked: a link can
    lead to any file of this machine, and the report would show its lines.

    Raises:
        UserError: `path` is no such folder, or holds no results.
    """
    path = path.absolute()  # not resolve(), which would follow links
    folder, model = ResultsFolder(path.parent.parent), path.name
    if path.parent.name != "runs" or not MODEL_ID.fullmatch(path.name) or not path.is_dir():
        raise UserError(f"expected the folder of a model's results, results/runs/MODEL, got {str(path)!r}")
    ways = (path, *sorted(path.rglob("*")))
    if links := [
        Problem(str(file.relative_to(path)) if file != path else model, why)
        for file in ways
        if (why := _why_not_plain(file, path.parents[2]))
    ]:
        return Submission(folder, model, ()), links
    suites = tuple(suite for name, suite in folder.files(skip_others=True) if name == model)
    if not suites:
        raise UserError(f"expected results (*.jsonl with a manifest beside them) in {str(path)!r}, got none")
    named = tuple(suite for suite in suites if SUITE_NAME.fullmatch(suite))
    known = {VERIFIED, *(f"{suite}{ending}" for suite in named for ending in ENDINGS)}
    return Submission(folder, model, named), list(_unexpected_files(path, known))


def _why_not_plain(file: Path, root: Path) -> str:
    why = why_not_plain(file, root)
    return (
        f"expected a file, got {why}; put the file itself here: nothing else is checked before" if why else ""
    )


def _unexpected_files(path: Path, known: Collection[str]) -> Iterator[Problem]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if file.is_file() and name not in known:
            yield Problem(name, "expected only results and their manifests here; leave this file out")


def read_submission(
    submission: Submission, suite: str
) -> tuple[Manifest | None, list[UnitRecord], list[Problem]]:
    """Returns one suite's manifest, records and problems; None and none for a suite that is not ours."""
    name = f"{suite}.jsonl"
    entry = next((entry for entry in catalogue.entries() if entry.id == suite), None)
    if entry is None:
        is_variant = any(entry.id == suite.partition("@")[0] for entry in catalogue.entries())
        why = "submissions have no settings" if is_variant else "others cannot grade results of suites"
        message = f"expected a built-in suite: {why} of your own, got {suite!r}; leave it out"
        return None, [], [Problem(name, message)]
    problems: list[Problem] = []
    manifest: Manifest | None = None
    try:
        manifest = submission.folder.read_manifest(submission.model, suite)
        if manifest is None:
            problems.append(Problem(f"{suite}.manifest.json", "expected the run's manifest, there is none"))
    except UnreadableManifestError as error:
        problems.append(Problem(f"{suite}.manifest.json", str(error)))
    try:
        records = list(read_records(submission.folder.lines(submission.model, suite), entry.record))
    except DamagedLineError as error:
        return manifest, [], [*problems, Problem(name, str(error))]
    problems += _implausible(name, records)
    if manifest is not None:
        problems += _of_manifest(f"{suite}.manifest.json", manifest)
    return manifest, records, problems


def check_texts(submission: Submission, suite: str) -> Iterator[Problem]:
    """Yields a problem for each line with what looks like a key; it does not show the text."""
    lines_path = submission.folder.lines(submission.model, suite)
    for ending in ENDINGS:
        path = lines_path.with_suffix(ending)
        if not path.is_file():
            continue
        with path.open(encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, start=1):
                if why := why_secret(line):
                    yield Problem(
                        f"{suite}{ending}, line {number}",
                        f"expected no key, got {why}; look at the line: replace a key of yours at its"
                        " provider, and run the suite anew; nothing else of this suite is checked before",
                    )


def check_protocol(work: Work, manifest: Manifest) -> Iterator[Problem]:
    """Yields problems of results that were not made with the current prompts, settings and data set."""
    name = f"{work.suite_id}.manifest.json"
    data = work.built.suite.data
    if manifest.data.sha256 != data.sha256:
        yield Problem(
            name,
            f"data.sha256: expected {data.sha256!r} ({data.name} {data.version}), got"
            f" {manifest.data.sha256!r}; run the suite with the data set that `triathlon suites` names",
        )
    elif manifest.protocol != work.protocol:
        yield Problem(
            name,
            f"protocol: expected '{work.protocol}', got '{manifest.protocol}'; prompts or settings are"
            " not those of this version: `triathlon run --ask-again` asks anew",
        )
    else:
        settings = json.loads(json.dumps(work.settings))  # as in a manifest, where tuples are lists
        for key in sorted(settings.keys() | manifest.settings.keys()):
            expected, got = settings.get(key), manifest.settings.get(key)
            if expected != got:
                yield Problem(
                    name,
                    f"settings.{key}: expected {expected!r} under protocol '{manifest.protocol}', got"
                    f" {got!r:.200}; hand in the manifest as the run wrote it",
                )


def check_plan(work: Work, records: Sequence[UnitRecord], manifest: Manifest) -> tuple[int, list[Problem]]:
    """Returns how many units the whole suite has, and problems where lines and open units are fewer or more.

    A suite is handed in whole: all its tasks, each with as many samples as any has. Units that could not be
    asked are open, in the manifest. Whatever else is missing may be what the model failed.
    """
    name, tasks = f"{work.suite_id}.manifest.json", len(work.built.tasks)
    samples = max((record.sample for record in records), default=0) + 1
    planned, there = tasks * samples, len(records) + manifest.open_units
    problems = []
    if manifest.tasks_in_suite != tasks:
        message = f"tasks_in_suite: expected {tasks}, got {manifest.tasks_in_suite}"
        problems.append(Problem(name, message))
    if there != planned:
        problems.append(
            Problem(
                name,
                f"expected {planned} units ({counted(tasks, 'task')}, {counted(samples, 'sample')} each), got"
                f" {counted(len(records), 'line')} and {manifest.open_units} open: {planned - there} are"
                " neither in the file nor open; `triathlon run --profile standard` makes what is missing",
            )
        )
    used = sum((record.usage for record in records), Usage())
    if manifest.usage != used:
        message = f"usage: expected the sum of its lines, {_counts(used)}, got {_counts(manifest.usage)}"
        problems.append(Problem(name, message))
    return planned, problems


def _counts(usage: Usage) -> str:
    return ", ".join(f"{name} {count}" for name, count in usage if count) or "nothing"


def _of_manifest(name: str, manifest: Manifest) -> Iterator[Problem]:
    if manifest.private:
        yield Problem(
            name, "expected results of a suite that everybody has, got those of a private one; leave it out"
        )
    if manifest.origin is not None:
        yield Problem(name, "expected results that were asked for, got an import; `import` files those")
    if manifest.unfinished:
        yield Problem(name, "expected a run that came to its end, got an unfinished one; run it again")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    for field in ("started", "ended"):
        moment = getattr(manifest, field)
        if moment and _time(moment) > tomorrow:
            yield Problem(name, f"{field}: expected a time that has passed, got {moment!r}")
    if manifest.ended and manifest.started and _time(manifest.ended) < _time(manifest.started):
        yield Problem(name, f"ended: expected a time after {manifest.started!r}, got {manifest.ended!r}")


def _time(moment: str) -> datetime:
    time = datetime.fromisoformat(moment)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _implausible(name: str, records: Sequence[UnitRecord]) -> Iterator[Problem]:
    """Yields problems of requests, tokens and seconds that no server can have counted."""
    characters = tokens = 0
    for number, record in enumerate(records, start=1):
        replies = [question.reply for question in record.questions()]
        usage, seconds = record.usage, record.seconds
        faults: list[tuple[str, str, float]] = []
        if usage.requests < len(replies):
            faults.append(("usage.requests", f"{len(replies)} or more (replies)", usage.requests))
        if seconds and usage.output_tokens > MOST_TOKENS_A_SECOND * seconds * len(replies):
            faults.append(("seconds", f"more for {usage.output_tokens} output tokens", seconds))
        for key, expected, got in faults:
            message = f"{key}: expected {expected}, got {got!r}; delete the line and run again"
            yield Problem(f"{name}, line {number}", message)
        if not usage.uncounted:
            characters += sum(len(reply.text) + len(reply.reasoning) for reply in replies)
            tokens += usage.output_tokens
    least, most = LEAST_CHARACTERS * tokens, MOST_CHARACTERS * tokens
    if characters > most or (characters and characters < least):
        yield Problem(
            name,
            f"usage.output_tokens: expected {characters / MOST_CHARACTERS:.0f} to"
            f" {characters / LEAST_CHARACTERS:.0f} for {characters} characters of replies"
            f" ({LEAST_CHARACTERS:g} to {MOST_CHARACTERS:g} characters a token), got {tokens}; the server's"
            " `usage` does not count its tokens: have it count them or send no `usage`, archive these results"
            " (`triathlon results archive`), forget its replies (`triathlon cache prune --model MODEL`), run"
            " again",
        )
