"""Checks of results that somebody hands in, and the report about them."""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

from triathlon_runner import catalogue
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import why_not_plain
from triathlon_runner.grading import Grader
from triathlon_runner.memo import python_version
from triathlon_runner.pasted_keys import why_secret
from triathlon_runner.records import Manifest, UnitRecord, Usage
from triathlon_runner.schedule import BuiltSuite, Work
from triathlon_runner.store import (
    VERIFIED,
    DamagedLineError,
    ResultsFolder,
    UnreadableManifestError,
    graded_again_statement,
    how_to_grade_again,
    read_graded_again,
    read_records,
)
from triathlon_runner.terminal import counted, first_of, in_markdown, progress_lines
from triathlon_runner.verify import COUNTS_DIFFER, verify_file, work_of

_LEAST_CHARACTERS: Final = 0.2
_MOST_CHARACTERS: Final = 30.0
"""Characters of replies, reasoning included, for each output token, over a whole file. Code and prose have
three to four a token; hidden reasoning has none, so that the lower bound is loose."""
_MOST_TOKENS_A_SECOND: Final = 20_000
"""Output tokens of one request a second: ten times the fastest hosts."""
_MODEL_ID: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_SUITE_NAME: Final = re.compile(r"[a-z0-9._@+/-]{1,200}")
"""Names of suites as the catalogue and `run` make them."""
SHOWN: Final = 20
"""Problems of a file that are printed; the JSON has all."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a submission cannot be taken."""

    place: str
    """File, and line or unit where it is about one."""
    message: str
    """What was expected, what came, what to do."""


class Submission(NamedTuple):
    """The folder of one model's results."""

    folder: ResultsFolder
    model: str
    suites: tuple[str, ...]


@dataclass(slots=True)
class FileCheck:
    """One suite of a submission."""

    suite: str
    sha256: str = ""
    """Of the results file."""
    units: int = 0
    verified: int = 0
    """Units that were graded again with the same result."""
    planned: int = 0
    """Units of the whole suite: its tasks, each with as many samples as any has; 0 where not known."""
    scores: dict[str, float] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def marked(self) -> bool:
        """Whether it gets the mark "graded again here": no problem, and a line for every planned unit."""
        return not self.problems and self.units == self.planned

    def cells(self) -> tuple[str, ...]:
        """Returns suite, units of those planned, units with the same result, three scores, and result."""
        scores = ", ".join(f"{name} {value:.6g}" for name, value in list(self.scores.items())[:3])
        units = str(self.units) if self.units == self.planned else f"{self.units} of {self.planned or '?'}"
        result = "accepted"
        if self.problems:
            result = counted(len(self.problems), "problem")
        elif not self.marked:
            result = f"accepted without mark and rank: {self.planned - self.units} open"
        return self.suite, units, str(self.verified), scores, result

    def refuse(self, message: str, *, manifest: bool = False, place: str = "") -> None:
        """Adds a problem of the results file, or of the manifest, and of a place in it."""
        name = f"{self.suite}{'.manifest.json' if manifest else '.jsonl'}"
        self.problems.append(Problem(f"{name}, {place}" if place else name, message))


def submission_at(path: Path) -> tuple[Submission, list[Problem]]:
    """Returns the results in `results/runs/<model>`, and a problem for each file that does not belong there.

    With a link or a pipe in the folder, or on the way to it from `results`, no suite is checked: a link can
    lead to any file of this machine, and the report would show its lines.
    """
    path = path.absolute()  # not resolve(), which would follow links
    folder, model = ResultsFolder(path.parent.parent), path.name
    if path.parent.name != "runs" or not _MODEL_ID.fullmatch(path.name) or not path.is_dir():
        got = f"{str(path)!r}{'' if path.is_dir() else ', where no folder is'}"
        raise UserError(f"expected the folder of a model's results, results/runs/MODEL, got {got}")
    files = sorted(path.rglob("*"))
    names = {file: file.relative_to(path).as_posix() for file in files} | {path: model}
    remedy = "put the file itself here: nothing else is checked before"
    links = [
        Problem(name, f"expected a file, got {why}; {remedy}")
        for file, name in names.items()
        if (why := why_not_plain(file, path.parents[2]))
    ]
    if links:
        return Submission(folder, model, ()), links
    suites = tuple(suite for name, suite in folder.files(skip_others=True) if name == model)
    if not suites:
        raise UserError(f"expected results (*.jsonl with a manifest beside them) in {str(path)!r}, got none")
    named = tuple(suite for suite in suites if _SUITE_NAME.fullmatch(suite))
    known = {VERIFIED, *(f"{suite}{ending}" for suite in named for ending in (".manifest.json", ".jsonl"))}
    leave_out = "expected only results and their manifests here; leave this file out"
    strangers = [names[file] for file in files if file.is_file() and names[file] not in known]
    return Submission(folder, model, named), [Problem(name, leave_out) for name in strangers]


async def check_suite(
    submission: Submission,
    suite: str,
    build: Callable[[str], Awaitable[BuiltSuite | str]],
    grader: Grader,
    report: Callable[[str], None],
) -> FileCheck:
    """Checks one suite, and grades it again unless something is against that.

    `build` returns the suite with its data, or why it cannot be built; `report` gets a line before grading.
    """
    lines = submission.folder.lines(submission.model, suite)
    check = FileCheck(suite, hashlib.sha256(lines.read_bytes()).hexdigest())
    if (read := _read(submission, lines, check)) is None:
        return check
    manifest, records = read
    if isinstance(built := await build(suite), str):
        check.refuse(f"expected the suite's data here: {built}")
        return check
    work = work_of(submission.model, built, manifest)
    if _is_other_protocol(check, work, manifest):
        return check
    _check_plan(check, len(built.tasks), records, manifest)
    report(f"{suite}: grading again")
    progress = progress_lines(f"triathlon submit: {suite}", "unit")
    verified = await verify_file(work, lines, manifest, grader, on_progress=progress)
    check.scores = verified.scores
    mismatches = verified.mismatches + verified.differing
    before = f", before under {verified.graded_under}" if verified.graded_under else ""
    again = f"graded again under Python {python_version()}{before}"
    for each in mismatches:
        if each.sentence == COUNTS_DIFFER:
            check.refuse(f"expected the lines' counts: {each.in_words()}", manifest=True, place=each.what)
        else:
            check.refuse(f"expected {each.expected} ({again}), got {each.stored}", place=each.what)
    for place, why in verified.unverified.items():
        check.refuse(why, place=place)
    differing = {mismatch.unit for mismatch in mismatches}
    regraded = [(record.task_id, record.sample) for _, record in verified.pairs if record is not None]
    check.verified = sum(unit not in differing for unit in regraded)
    if verified.other_engine:
        check.refuse(verified.other_engine)
    return check


def _read(submission: Submission, lines: Path, check: FileCheck) -> tuple[Manifest, list[UnitRecord]] | None:
    """Returns manifest and records, and notes their problems; None where they cannot be graded."""
    suite = check.suite
    _check_keys(check, lines)
    if check.problems:  # further problems would quote values, and the key could be one
        return None
    entries = {entry.id: entry for entry in catalogue.entries()}
    if suite not in entries:
        is_variant = suite.partition("@")[0] in entries
        why = "submissions have no settings" if is_variant else "others cannot grade results of suites"
        check.refuse(f"expected a built-in suite: {why} of your own, got {suite!r}; leave it out")
        return None
    manifest: Manifest | None = None
    try:
        manifest = submission.folder.read_manifest(submission.model, suite)
        if manifest is None:
            check.refuse("expected the run's manifest, there is none", manifest=True)
    except UnreadableManifestError as error:
        check.refuse(str(error), manifest=True)
    try:
        records = list(read_records(lines, entries[suite].record))
    except DamagedLineError as error:
        check.refuse(str(error))
        return None
    check.units = len(records)
    for fault in _faults_of_manifest(manifest) if manifest is not None else ():
        check.refuse(fault, manifest=True)
    _check_counts(check, records)
    return None if manifest is None or (check.problems and not records) else (manifest, records)


def _check_keys(check: FileCheck, lines: Path) -> None:
    """Refuses each line with what looks like a key; the problem does not show the text."""
    for path in (lines.with_suffix(".manifest.json"), lines):
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as texts:
                for number, line in enumerate(texts, start=1):
                    if why := why_secret(line):
                        message = (
                            f"expected no key, got {why}; look at the line: replace a key of yours at its"
                            " provider, and run the suite anew; nothing else of this suite is checked before"
                        )
                        check.refuse(message, manifest=path != lines, place=f"line {number}")


def check_statement(submission: Submission, checks: Sequence[FileCheck]) -> list[Problem]:
    """Returns a problem where the submission's own statement marks results that this check does not mark."""
    try:
        statement = read_graded_again(submission.folder, submission.model)
    except UserError as error:
        return [Problem(VERIFIED, str(error))]
    if statement is None:
        return []
    marked = {check.suite: check.sha256 for check in checks if check.marked}
    wrong = any(marked.get(suite) != sha256 for suite, sha256 in statement.sha256.items())
    if not wrong and statement.engine_version == ENGINE_VERSION:
        return []
    message = (
        f"expected what this check states: engine {ENGINE_VERSION}, passed {sorted(marked)!r:.200}; got"
        f" engine {statement.engine_version}, passed {sorted(statement.sha256)!r:.200};"
        f" {how_to_grade_again(submission.model)}, or leave it out"
    )
    return [Problem(VERIFIED, message)]


def _is_other_protocol(check: FileCheck, work: Work, manifest: Manifest) -> bool:
    """Refuses results that were not made with the current prompts, settings and data set."""
    data = work.built.suite.data
    if manifest.data.sha256 != data.sha256:
        remedy = "run the suite with the data set that `triathlon suites` names"
        pairs: dict[str, tuple[object, object]] = {"data.sha256": (data.sha256, manifest.data.sha256)}
    elif manifest.protocol != work.protocol:
        remedy = "prompts or settings are not those of this version: archive them and run again"
        pairs = {"protocol": (str(work.protocol), str(manifest.protocol))}
    else:
        remedy = "hand in the manifest as the run wrote it, of a run without `max_tokens` in the row"
        settings, stated = json.loads(json.dumps([work.settings, manifest.settings]))  # tuples as lists
        for each in (settings, stated):
            # The truths of the questions are the same under every Python; how long the judge may write and at
            # which temperature is its row's matter.
            for part, name in (("questions", "python"), ("judge", "max_tokens"), ("judge", "temperature")):
                (each.get(part) or {}).pop(name, None)
        # an earlier version's manifest has others, and its protocol is known by its hash
        names = settings.keys() | stated.keys() if "graded" in stated else {"api", "judge", "max_tokens"}
        pairs = {f"settings.{key}": (settings.get(key), stated.get(key)) for key in sorted(names)}
    differing = {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}
    for what, (expected, got) in differing.items():
        check.refuse(f"{what}: expected {expected!r}, got {got!r:.200}; {remedy}", manifest=True)
    return bool(differing)


def _check_plan(check: FileCheck, tasks: int, records: Sequence[UnitRecord], manifest: Manifest) -> None:
    """Refuses a file where lines and open units are fewer or more than the whole suite.

    A suite is handed in whole: all its tasks, each with as many samples as any has. Units that could not be
    asked are open, in the manifest. Whatever else is missing may be what the model failed.
    """
    samples = max((record.sample for record in records), default=0) + 1
    planned = check.planned = tasks * samples
    missing = planned - len(records) - manifest.open_units
    if manifest.tasks_in_suite != tasks:
        check.refuse(f"tasks_in_suite: expected {tasks}, got {manifest.tasks_in_suite}", manifest=True)
    if missing:
        what = "neither in the file nor open" if missing > 0 else "too many"
        message = (
            f"expected {planned} units ({counted(tasks, 'task')}, {counted(samples, 'sample')} each), got"
            f" {counted(len(records), 'line')} and {manifest.open_units} open: {abs(missing)} are {what};"
            " `triathlon run --profile standard` writes both files whole"
        )
        check.refuse(message, manifest=True)
    used = sum((record.usage for record in records), Usage())
    if manifest.usage != used:
        check.refuse(f"usage: expected the sum of its lines, {used}, got {manifest.usage}", manifest=True)


def _faults_of_manifest(manifest: Manifest) -> Iterator[str]:
    if manifest.private:
        yield "expected results of a suite that everybody has, got those of a private one; leave it out"
    if manifest.origin is not None:
        yield "expected results that were asked for, got an import; `import` files those"
    if manifest.unfinished:
        yield "expected a run that came to its end, got an unfinished one; run it again"
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    if manifest.ended and _time(manifest.ended) > tomorrow:
        yield f"ended: expected a time that has passed, got {manifest.ended!r}"
    if manifest.ended and _time(manifest.ended) < _time(manifest.started):
        yield f"ended: expected a time after {manifest.started!r}, got {manifest.ended!r}"


def _time(moment: str) -> datetime:
    time = datetime.fromisoformat(moment)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _check_counts(check: FileCheck, records: Sequence[UnitRecord]) -> None:
    """Refuses requests, tokens and seconds that no server can have counted."""
    characters = tokens = 0
    for number, record in enumerate(records, start=1):
        replies = list(record.replies())
        usage, seconds, faults = record.usage, record.seconds, []
        if usage.requests < len(replies):
            faults.append(f"usage.requests: expected {len(replies)} or more (replies), got {usage.requests}")
        if seconds and usage.output_tokens > _MOST_TOKENS_A_SECOND * seconds * len(replies):
            faults.append(f"seconds: expected more for {usage.output_tokens} output tokens, got {seconds}")
        for fault in faults:
            check.refuse(f"{fault}; delete the line and run again", place=f"line {number}")
        if not usage.uncounted:
            characters += sum(len(reply.text) + len(reply.reasoning) for reply in replies)
            tokens += usage.output_tokens
    least, most = _LEAST_CHARACTERS * tokens, _MOST_CHARACTERS * tokens
    if characters > most or (characters and characters < least):
        check.refuse(
            f"usage.output_tokens: expected {characters / _MOST_CHARACTERS:.0f} to"
            f" {characters / _LEAST_CHARACTERS:.0f} for {characters} characters of replies"
            f" ({_LEAST_CHARACTERS:g} to {_MOST_CHARACTERS:g} characters a token), got {tokens}; the server's"
            " `usage` does not count its tokens: have it count them or send no `usage`, archive these results"
            " (`triathlon results archive`), forget its replies (`triathlon cache prune --model MODEL`), run"
            " again"
        )


@dataclass(slots=True)
class SubmissionReport:
    """The result of checking a submission."""

    model: str
    engine_version: int
    files: list[FileCheck]
    problems: list[Problem]
    """Problems that are of no single suite."""
    listed: bool
    """Whether models.yaml has a row for the model."""

    @property
    def accepted(self) -> bool:
        """Whether the submission can be taken as it is."""
        return not self.problems and not any(file.problems for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """Returns the document of `--json`."""
        return {"schema": 1, "accepted": self.accepted, **asdict(self)}

    def markdown(self) -> str:
        """Returns the report as a comment on a pull request."""
        verdict = "can be taken" if self.accepted else "**cannot be taken yet**"
        lines = [
            f"## Submission of `{self.model}`: {verdict}",
            "",
            self.what_was_graded(),
            "",
            "| suite | units | graded again, equal | scores | result |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += [f"| {' | '.join(map(in_markdown, file.cells()))} |" for file in self.files]
        if not self.listed:
            lines += ["", self.about_missing_row()]
        for title, problems in (("Files", self.problems), *((f.suite, f.problems) for f in self.files)):
            if problems:
                texts = [in_markdown(f"{problem.place}: {problem.message}") for problem in problems]
                lines += ["", f"### {in_markdown(title)}", ""]
                lines += [f"- {text}" for text in first_of(texts, SHOWN)]
        return "\n".join(lines) + "\n"

    def what_was_graded(self) -> str:
        """Returns how many units had the same result when graded again, and what no check can show."""
        equal, units = sum(file.verified for file in self.files), sum(file.units for file in self.files)
        return (
            f"{equal} of {counted(units, 'unit')} in {counted(len(self.files), 'suite')} had the same result"
            f" when engine {self.engine_version} graded them again. That the replies came from this model"
            " cannot be shown by any check."
        )

    def about_missing_row(self) -> str:
        """Returns what to do where the model has no row."""
        return f"models.yaml has no row `{self.model}`: add one with name, organisation and link."


def statement(report: SubmissionReport) -> dict[str, Any]:
    """Returns the unsigned in-toto statement; a suite is a passed test where it is marked."""
    return graded_again_statement(
        report.model,
        report.engine_version,
        {file.suite: file.sha256 for file in report.files if file.sha256},
        {file.suite for file in report.files if file.marked},
        result=not report.problems and all(file.marked for file in report.files),
    )
