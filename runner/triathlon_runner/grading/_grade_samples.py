"""`triathlon grade`: grades samples made elsewhere, one JSON line each."""

import asyncio
import hashlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from triathlon_runner.concurrency import OnProgress, run_all, show_nothing
from triathlon_runner.datasets import FunctionProblem, Problem
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.grading._answer_keys import UngradableError
from triathlon_runner.grading._caching_grader import CachingGrader
from triathlon_runner.grading._program_grader import ProgramGrader
from triathlon_runner.grading._samples import Agreement, Sample, read_samples
from triathlon_runner.memo import python_version
from triathlon_runner.metrics import pass_at_k_of
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.sandbox import SandboxError, open_sandbox
from triathlon_runner.store import is_stream, replace_file

UNKNOWN_TASK = "unknown_task"
"""The outcome of a sample for a task that the problems do not have."""
_PROGRAM = "program_sha256"
"""The field that every line of the `--out` file has, and no sample."""

Line = dict[str, Any]


@dataclass(slots=True)
class GradeReport:
    """The verdicts, and what is missing."""

    tasks: tuple[str, ...]
    """task_ids of all problems."""
    inputs: Literal["base", "all"] = "all"
    """Which of the problems' inputs the programs were graded on."""
    splits: bool = False
    """Whether lines have verdicts on the base inputs and on all inputs."""
    lines: list[Line] = field(default_factory=list)
    """One for each graded sample, in the samples' order, as written to the file."""
    broken: list[str] = field(default_factory=list)
    """Unreadable lines of the samples, with the reason."""
    refused: dict[str, str] = field(default_factory=dict)
    """Tasks whose tests prove nothing, with the reason."""
    open: list[str] = field(default_factory=list)
    """Samples that our machinery could not grade, with the reason; the next run tries them again."""
    open_tasks: set[str] = field(default_factory=set)
    """Tasks of these samples."""
    agreement: Agreement = field(default_factory=Agreement)
    """With the verdicts that the samples had."""
    level: str = ""

    @property
    def missing(self) -> list[str]:
        """Tasks without a sample."""
        sampled = {line["task_id"] for line in self.lines} | self.refused.keys() | self.open_tasks
        return [task for task in self.tasks if task not in sampled]

    @property
    def unknown(self) -> Counter[str]:
        """Samples by ids that no problem has."""
        return Counter(line["task_id"] for line in self.lines if line["outcome"] == UNKNOWN_TASK)

    def outcomes(self) -> Counter[str]:
        """Number of samples with each outcome."""
        return Counter(line["outcome"] for line in self.lines)

    def samples(self, *, base: bool = False) -> dict[str, list[bool]]:
        """By known task, which of its samples passed, on all inputs or on the base inputs."""
        passed_by_task: dict[str, list[bool]] = {}
        for line in self.lines:
            if line["outcome"] != UNKNOWN_TASK:
                outcome = line["base_outcome" if base and "base_outcome" in line else "outcome"]
                passed_by_task.setdefault(line["task_id"], []).append(outcome == Outcome.PASSED)
        return passed_by_task

    def pass_at(self, k: int, *, base: bool = False) -> float | None:
        """Mean of the unbiased estimates of pass@k over the tasks with samples.

        None where there is no such task, or one has fewer than k samples: there is no unbiased estimate.
        """
        samples = list(self.samples(base=base).values())
        if not samples or min(map(len, samples)) < k:
            return None
        return sum(pass_at_k_of(len(passed), sum(passed), k) for passed in samples) / len(samples)

    def whole(self, *, partial: bool = False) -> bool:
        """Whether every sample was graded and every task has one; with `partial`, tasks may be missing."""
        faults = self.unknown or self.broken or self.refused or self.open
        return not faults and (partial or not self.missing)


async def grade_samples(
    samples: Path,
    problems: Sequence[FunctionProblem],
    *,
    out: Path | None = None,
    model: str = "",
    inputs: Literal["base", "all"] = "all",
    jobs: int | None = None,
    keys: Path | None = None,
    verdicts: Path | None = None,
    on_progress: OnProgress = show_nothing,
) -> GradeReport:
    """Grades every sample and writes their lines to `out` at the end, in the samples' order.

    Verdicts are kept in the file `verdicts`, so that the same call goes on where one was stopped. The model's
    name is in each line. `jobs` are programs at once, by default as many as cores; without `keys`, a folder,
    answer keys are made anew.

    Raises:
        UserError: samples or `out` can't be used.
        SandboxError: nothing can be executed here.
    """
    known = {problem.task_id: problem for problem in problems}
    wanted, broken = read_samples(samples, problems)
    if out is not None:
        _check_writable(out)
    of_model = {"model": model} if model else {}
    has_both = any(isinstance(p, Problem) and 0 < (p.base_inputs or 0) < len(p.inputs) for p in problems)
    report = GradeReport(tuple(known), inputs, inputs == "all" and has_both, broken=broken)
    done = itertools.count(1)
    async with open_sandbox(jobs=jobs) as sandbox:
        report.level = sandbox.level
        grader = CachingGrader(ProgramGrader(sandbox, keys), verdicts)
        slots = asyncio.Semaphore(jobs or len(os.sched_getaffinity(0)))

        async def graded(sample: Sample) -> Line | None:
            program = (sample.program or sample.fault).encode("utf-8", "surrogatepass")
            head = {
                "task_id": sample.task_id,
                "sample": sample.number,
                _PROGRAM: hashlib.sha256(program).hexdigest(),
                "engine_version": ENGINE_VERSION,
                "python": python_version(),
            }
            async with slots:
                fields = await _verdict_fields(sample, known.get(sample.task_id), grader, report)
                on_progress(next(done), len(wanted))
                return fields and {**head, **of_model, **fields}

        lines = await run_all(map(graded, wanted))
    report.lines = [line for line in lines if line is not None]
    for sample, line in zip(wanted, lines, strict=True):
        if line is not None:
            _compare(sample, line, report)
    if out is not None:
        replace_file(out, "".join(f"{json.dumps(line)}\n" for line in report.lines))
    return report


async def _verdict_fields(
    sample: Sample, problem: FunctionProblem | None, grader: CachingGrader, report: GradeReport
) -> Line | None:
    """What a sample's line says of its outcome; None where our machinery failed, which the report says."""
    if problem is None:
        return {"outcome": UNKNOWN_TASK, "detail": "the problems have no task of this id"}
    if sample.fault:
        return {"outcome": str(Outcome.NO_ANSWER), "detail": sample.fault}
    try:
        verdict = await grader.grade(sample.program, problem, inputs=report.inputs)
    except UngradableError as error:
        report.refused[sample.task_id] = str(error)
        return None
    except SandboxError as error:
        report.open.append(f"{sample.task_id} sample {sample.number}: {error}")
        report.open_tasks.add(sample.task_id)
        return None
    line = verdict.model_dump(mode="json")
    return {**line, "base_outcome": base_outcome(verdict, problem)} if report.splits else line


def base_outcome(verdict: Verdict, problem: FunctionProblem) -> str:
    """Returns how a program ended on the base inputs, which come first: the first failure ends grading."""
    failing = verdict.failing
    past_base = isinstance(problem, Problem) and failing and failing.index >= (problem.base_inputs or 0) > 0
    return str(Outcome.PASSED if past_base else verdict.outcome)


def _compare(sample: Sample, line: Line, report: GradeReport) -> None:
    """Counts whether a line's outcome is the verdict that came with its sample, on the same inputs."""
    outcome = str(line["outcome"])
    if outcome != UNKNOWN_TASK:
        comparison = sample.theirs.beside(outcome, str(line.get("base_outcome", outcome)), report.inputs)
        report.agreement.add(sample.task_id, sample.number, comparison)


def _check_writable(out: Path) -> None:
    """Checks, before anything is graded, that a file can be written, and holds nothing but graded samples.

    Raises:
        UserError: it cannot be written, or holds something else.
    """
    if is_stream(out):
        return
    is_new = not out.exists()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("ab+") as file:
            file.seek(0)
            marker = f'"{_PROGRAM}": '.encode()
            other_line = next((line for line in file if line.strip() and marker not in line), b"")
        if is_new:
            out.unlink()
    except OSError as error:
        raise UserError(
            f"--out expects a file that can be written, got {str(out)!r} ({error.strerror or error});"
            " name another one"
        ) from error
    if other_line:
        raise UserError(
            f"{str(out)!r}: expected graded samples or no file, got {other_line.strip()[:60]!r};"
            " name another file at --out"
        )
