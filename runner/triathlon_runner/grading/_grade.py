"""`triathlon grade`: judges samples made elsewhere, one JSON line each; what is there already is kept."""

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.datasets import ClassProblem, Problem
from triathlon_runner.errors import UserError
from triathlon_runner.grading._classes import ClassGrader
from triathlon_runner.grading._program import ProgramGrader
from triathlon_runner.grading._samples import AnyProblem, Sample, by_id, read_samples
from triathlon_runner.grading._tested import TestedGrader
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import SandboxError, open_sandbox

UNKNOWN_TASK = "unknown_task"
"""The outcome of a sample for a task that the problems do not have."""

Line = dict[str, Any]
_Key = tuple[str, int, str]


@dataclass(slots=True)
class GradeReport:
    """What grading came to."""

    lines: list[Line] = field(default_factory=list)
    """One a judged sample, in the samples' order, as written to the file."""
    open: list[str] = field(default_factory=list)
    """Samples that our machinery could not judge, with the reason; the next run tries them again."""
    kept: int = 0
    """Lines that an earlier run had written."""
    level: str = ""

    def outcomes(self) -> Counter[str]:
        """How many samples came to each outcome."""
        return Counter(line["outcome"] for line in self.lines)

    def pass_at_1(self) -> float:
        """Mean over the known tasks that have samples of the share of their samples that passed."""
        shares: dict[str, list[bool]] = {}
        for line in self.lines:
            if line["outcome"] != UNKNOWN_TASK:
                shares.setdefault(line["task_id"], []).append(line["outcome"] == Outcome.PASSED)
        rates = [sum(passed) / len(passed) for passed in shares.values()]
        return sum(rates) / len(rates) if rates else float("nan")


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """How samples are judged, and where the lines go."""

    out: Path | None = None
    """The file of lines; what it has already is kept."""
    model: str = ""
    """Whose programs these are; stands in every line."""
    inputs: Literal["base", "all"] = "all"
    level: str = "auto"
    jobs: int | None = None
    """Programs at once; None: as many as cores."""
    keys: Path | None = None
    """Folder of answer keys; None: they are made anew."""


@dataclass(frozen=True, slots=True)
class _Judges:
    functions: ProgramGrader
    classes: ClassGrader
    tested: TestedGrader


async def grade_samples(
    samples: Path,
    problems: Sequence[AnyProblem],
    options: GradeOptions = GradeOptions(),
    on_progress: Callable[[int, int], None] | None = None,
) -> GradeReport:
    """Judges every sample and appends its line to `out` at once; at the end `out` is in the samples' order.

    Raises:
        UserError: samples or `out` can't be used.
        SandboxError: nothing can be executed here.
    """
    known = by_id(problems)
    found = read_samples(samples, known)
    out = options.out
    written = {_key_of(line): line for line in _written(out)}
    _mend(out)
    report = GradeReport()
    judged: dict[_Key, Line] = {}
    async with open_sandbox(options.level, options.jobs) as sandbox:
        report.level = sandbox.level
        classes = ClassGrader(sandbox)
        judges = _Judges(ProgramGrader(sandbox, options.keys), classes, TestedGrader(sandbox, classes))
        waiting = iter(found)

        async def judge_some() -> None:
            for sample in waiting:
                key = _key(sample)
                line = written.get(key)
                if line is not None:
                    report.kept += 1
                else:
                    line = await _line(sample, known.get(sample.task_id), judges, options, report)
                    _append(out, line)
                if line is not None:
                    judged[key] = line
                if on_progress is not None:
                    on_progress(len(judged) + len(report.open), len(found))

        async with asyncio.TaskGroup() as group:
            for _ in range(options.jobs or len(os.sched_getaffinity(0))):
                group.create_task(judge_some())
    report.lines = [judged[key] for key in dict.fromkeys(map(_key, found)) if key in judged]
    _rewrite(out, report.lines)
    return report


async def _line(
    sample: Sample,
    problem: AnyProblem | None,
    judges: _Judges,
    options: GradeOptions,
    report: GradeReport,
) -> Line | None:
    """One sample's line; None where our machinery failed."""
    head: Line = {"task_id": sample.task_id, "sample": sample.number, "program_sha256": _digest(sample)}
    if options.model:
        head["model"] = options.model
    if problem is None and not sample.fault.startswith("not JSON"):
        return {**head, "outcome": UNKNOWN_TASK, "detail": "the problems have no task of this id"}
    if sample.fault or problem is None:
        return {**head, "outcome": str(Outcome.NO_ANSWER), "detail": sample.fault}
    try:
        verdict = await _judge(sample.program, problem, judges, options)
    except SandboxError as error:
        report.open.append(f"{sample.task_id} sample {sample.number}: {error}")
        return None
    return {**head, **verdict.model_dump(mode="json")}


async def _judge(program: str, problem: AnyProblem, judges: _Judges, options: GradeOptions) -> Verdict:
    if isinstance(problem, Problem):
        return await judges.functions.judge(program, problem, inputs=options.inputs)
    if isinstance(problem, ClassProblem):
        return await judges.classes.judge(program, problem)
    return await judges.tested.judge(program, problem)


def _key(sample: Sample) -> _Key:
    return sample.task_id, sample.number, _digest(sample)


def _key_of(line: Line) -> _Key:
    return line["task_id"], line["sample"], line["program_sha256"]


def _digest(sample: Sample) -> str:
    return hashlib.sha256((sample.program or sample.fault).encode("utf-8", "surrogatepass")).hexdigest()


def _written(out: Path | None) -> Iterator[Line]:
    """The whole lines of an earlier run; a torn last one (power cut) is judged again.

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


def _mend(out: Path | None) -> None:
    """Takes a torn last line off before the next one is written behind it.

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
    if out is None:
        return
    new = out.with_name(out.name + ".new")
    new.write_bytes(b"".join(map(_encoded, lines)))
    new.replace(out)


def _encoded(line: Line) -> bytes:
    return json.dumps(line, ensure_ascii=True).encode() + b"\n"
