"""The result of grading samples: lines, what is missing, pass@k."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

from triathlon_runner.metrics import pass_at_k_of
from triathlon_runner.records import Outcome

UNKNOWN_TASK = "unknown_task"
"""The outcome of a sample for a task that the problems do not have."""

Line = dict[str, Any]


@dataclass(slots=True)
class GradeReport:
    """The verdicts, and what is missing."""

    tasks: tuple[str, ...] = ()
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
    reused: int = 0
    """Verdicts of an earlier run on the same program, problem and tests, by the same grader."""
    replaced: int = 0
    """Lines of an earlier run on another program, problem, tests or grader, graded anew."""
    not_replaced: int = 0
    """Lines of an earlier run, on other programs, tests or graders, for samples without a verdict now."""
    other_lines: int = 0
    """Lines of an earlier run for other samples, which stay in the file."""
    level: str = ""

    @property
    def missing(self) -> list[str]:
        """Tasks without a sample."""
        sampled = {line["task_id"] for line in self.lines} | self.refused.keys()
        return [task for task in self.tasks if task not in sampled and not self._is_open(task)]

    def _is_open(self, task: str) -> bool:
        return any(sample.startswith(f"{task} sample ") for sample in self.open)

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
