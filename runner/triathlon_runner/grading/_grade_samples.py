"""`triathlon grade`: grades samples made elsewhere, one JSON line each, and reuses earlier lines."""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from triathlon_runner.datasets import AnyProblem, ClassProblem, Problem
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.grading._answer_keys import ReferenceFailedError
from triathlon_runner.grading._classes import ClassGrader
from triathlon_runner.grading._code_tests import UngradableError
from triathlon_runner.grading._program import ProgramGrader
from triathlon_runner.grading._report import UNKNOWN_TASK, GradeReport, Line
from triathlon_runner.grading._samples import Sample, by_id, read_samples
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import SandboxError, open_sandbox
from triathlon_runner.store import replace_file

_Key = tuple[object, ...]
"""All that a verdict depends on: task, sample, program, problem with its tests, version of the grader."""


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """How samples are graded, and where the lines go."""

    out: Path | None = None
    """The file of lines; verdicts in it stay if problem, program, tests and grader are the same."""
    model: str = ""
    """Name of the model; part of every line."""
    inputs: Literal["base", "all"] = "all"
    level: str = "auto"
    jobs: int | None = None
    """Programs at once; None: as many as cores."""
    keys: Path | None = None
    """Folder of answer keys; None: they are made anew."""


@dataclass(frozen=True, slots=True)
class _Graders:
    functions: ProgramGrader
    classes: ClassGrader


async def grade_samples(
    samples: Path,
    problems: Sequence[AnyProblem],
    options: GradeOptions = GradeOptions(),
    on_progress: Callable[[int, int], None] | None = None,
) -> GradeReport:
    """Grades every sample and appends its line to `out` at once; at the end `out` is in the samples' order.

    Lines of other samples, from earlier calls, stay behind those; so do earlier lines of samples that get no
    verdict now, because their problem is refused or the sandbox failed.

    Raises:
        UserError: samples or `out` can't be used.
        SandboxError: nothing can be executed here.
    """
    known = by_id(problems)
    read = read_samples(samples, known)
    samples_read, out = read.samples, options.out
    digests = {task_id: problem_digest(problem, options.inputs) for task_id, problem in known.items()}
    lines = list(_lines_of_earlier_run(out))
    other_lines = _of_other_samples(lines, samples_read, options.model)
    earlier = {_key_of(line): line for line in lines}
    _cut_torn_line(out)
    wanted = [_key(sample, digests) for sample in samples_read]
    report = GradeReport(
        tasks=tuple(known),
        inputs=options.inputs,
        splits=any(map(has_more_than_base, problems)) and options.inputs == "all",
        broken=read.broken,
        other_lines=len(other_lines),
    )
    graded: dict[_Key, Line] = {}
    async with open_sandbox(options.level, options.jobs) as sandbox:
        report.level = sandbox.level
        graders = _Graders(ProgramGrader(sandbox, options.keys), ClassGrader(sandbox))
        waiting = iter(zip(samples_read, wanted, strict=True))

        async def grade_some() -> None:
            for sample, key in waiting:
                line = earlier.get(key)
                if line is not None:
                    report.reused += 1
                    line = {**line, **({"model": options.model} if options.model else {})}
                else:
                    head = _identity_fields(sample, digests, options)
                    line = await _line(head, sample, known.get(sample.task_id), graders, options, report)
                    _append(out, line)
                if line is not None:
                    graded[key] = line
                if on_progress is not None:
                    on_progress(len(graded) + len(report.open), len(samples_read))

        async with asyncio.TaskGroup() as group:
            for _ in range(options.jobs or len(os.sched_getaffinity(0))):
                group.create_task(grade_some())
    report.lines = [graded[key] for key in dict.fromkeys(wanted) if key in graded]
    not_replaced = _without_new_verdict(lines, samples_read, report.lines, other_lines)
    report.not_replaced = len(not_replaced)
    report.replaced = len(earlier.keys() - {*wanted, *map(_key_of, [*other_lines, *not_replaced])})
    _rewrite(out, [*report.lines, *not_replaced, *other_lines])
    return report


def _without_new_verdict(
    earlier: Iterable[Line], samples: Iterable[Sample], graded: Iterable[Line], other_lines: Iterable[Line]
) -> list[Line]:
    """Lines of an earlier call for samples of this one that could not be graded now."""
    ungraded = {(sample.task_id, sample.number) for sample in samples}
    ungraded -= {(line["task_id"], line["sample"]) for line in graded}
    other_ids = set(map(id, other_lines))
    return [
        line
        for line in earlier
        if (line["task_id"], line["sample"]) in ungraded and id(line) not in other_ids
    ]


def _of_other_samples(lines: Iterable[Line], samples: Iterable[Sample], model: str) -> list[Line]:
    """Lines of an earlier call for samples that this one does not have, or for those of another model."""
    wanted = {(sample.task_id, sample.number) for sample in samples}
    return [
        line
        for line in lines
        if (line["task_id"], line["sample"]) not in wanted or (model and line.get("model", model) != model)
    ]


def problem_digest(problem: AnyProblem, inputs: Literal["base", "all"]) -> str:
    """Hash of a problem with its tests, and of which of them a program is graded on."""
    fields = {"kind": type(problem).__name__, "judged on": inputs, **asdict(problem)}
    text = json.dumps(fields, sort_keys=True, default=sorted)  # sets of names are all that JSON lacks
    return hashlib.sha256(text.encode()).hexdigest()


def has_more_than_base(problem: AnyProblem) -> bool:
    """Whether a problem has more inputs than the data set's base inputs."""
    return isinstance(problem, Problem) and 0 < (problem.base_inputs or 0) < len(problem.inputs)


def _identity_fields(sample: Sample, digests: Mapping[str, str], options: GradeOptions) -> Line:
    """The fields that identify a line and what its verdict depends on."""
    head: Line = {
        "task_id": sample.task_id,
        "sample": sample.number,
        "program_sha256": _digest(sample),
        "problem_sha256": digests.get(sample.task_id),
        "engine_version": ENGINE_VERSION,
    }
    return {**head, "model": options.model} if options.model else head


async def _line(
    head: Line,
    sample: Sample,
    problem: AnyProblem | None,
    graders: _Graders,
    options: GradeOptions,
    report: GradeReport,
) -> Line | None:
    """One sample's line; None where our machinery failed."""
    if problem is None:
        return {**head, "outcome": UNKNOWN_TASK, "detail": "the problems have no task of this id"}
    if sample.fault:
        return {**head, "outcome": str(Outcome.NO_ANSWER), "detail": sample.fault}
    try:
        verdict = await _grade_sample(sample.program, problem, graders, options)
    except (UngradableError, ReferenceFailedError) as error:
        report.refused[sample.task_id] = str(error)
        return None
    except SandboxError as error:
        report.open.append(f"{sample.task_id} sample {sample.number}: {error}")
        return None
    line = {**head, **verdict.model_dump(mode="json")}
    return {**line, "base_outcome": _base_outcome(verdict, problem)} if report.splits else line


def _base_outcome(verdict: Verdict, problem: AnyProblem) -> str:
    """How the program ended on the base inputs, which come first: grading stops at the first failure."""
    failing = verdict.failing
    past_base = isinstance(problem, Problem) and failing and failing.index >= (problem.base_inputs or 0) > 0
    return str(Outcome.PASSED if past_base else verdict.outcome)


async def _grade_sample(
    program: str, problem: AnyProblem, graders: _Graders, options: GradeOptions
) -> Verdict:
    if isinstance(problem, ClassProblem):
        return await graders.classes.grade(program, problem)
    return await graders.functions.grade(program, problem, inputs=options.inputs)


def _key(sample: Sample, digests: Mapping[str, str]) -> _Key:
    problem = digests.get(sample.task_id)
    return sample.task_id, sample.number, _digest(sample), problem, ENGINE_VERSION


def _key_of(line: Line) -> _Key:
    """The key of a line of an earlier call; a line without the last two fields equals no sample."""
    sample_key = line["task_id"], line["sample"], line["program_sha256"]
    return *sample_key, line.get("problem_sha256", "unknown"), line.get("engine_version")


def _digest(sample: Sample) -> str:
    return hashlib.sha256((sample.program or sample.fault).encode("utf-8", "surrogatepass")).hexdigest()


def _lines_of_earlier_run(out: Path | None) -> Iterator[Line]:
    """The whole lines of an earlier run; a torn last one (power cut) is graded again.

    Raises:
        UserError: the file holds something else.
    """
    if out is None or not out.is_file():
        return
    whole, _, _ = out.read_bytes().rpartition(b"\n")
    for number, text in enumerate(whole.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
            _key_of(line)
        except (ValueError, KeyError, TypeError):
            raise UserError(
                f"{str(out)!r}, line {number}: expected a graded sample, got {text[:60]!r}; "
                "name another file at --out"
            ) from None
        yield line


def _append(out: Path | None, line: Line | None) -> None:
    if out is None or line is None:
        return
    with out.open("ab") as file:
        file.write(_encoded(line))


def _cut_torn_line(out: Path | None) -> None:
    """Removes a torn last line, so that the next line is not appended to it.

    Raises:
        UserError: the file can't be written.
    """
    if out is None:
        return
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab+") as file:
            file.seek(0)
            whole, newline, _ = file.read().rpartition(b"\n")
            file.truncate(len(whole) + len(newline))
    except OSError as error:
        raise UserError(
            f"--out expects a file that can be written, got {str(out)!r}: {error}. Name another one."
        ) from error


def _rewrite(out: Path | None, lines: Iterable[Line]) -> None:
    if out is not None:
        replace_file(out, b"".join(map(_encoded, lines)).decode())


def _encoded(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=True).encode() + b"\n"
