"""Who solves each task: links to the evidence of every model, grouped by how it ended."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from triathlon_site.evidence import ATTEMPTS, read_attempts
from triathlon_site.load import FileAggregate
from triathlon_site.models import ModelInfo


@dataclass(frozen=True)
class Solvers:
    """The models whose attempt at one task ended in one way."""

    outcome: str
    models: list[tuple[str, str]]
    """Address of the evidence and name of the model, in the board's order."""

    @property
    def kind(self) -> str:
        """The class of its colour."""
        if self.outcome == "passed" or self.outcome.endswith(("loop", "loops")):
            return "passed"
        if self.outcome.startswith("0 of "):
            return "failed"
        return "partly" if " of " in self.outcome else self.outcome

    @property
    def order(self) -> tuple[int, int, str]:
        """The solvers first, most loops first, then the outcomes by how many models had them."""
        return _failure(self.outcome), -len(self.models), self.outcome


def solvers_by_task(
    files: Mapping[str, FileAggregate], models: Mapping[str, ModelInfo]
) -> dict[str, list[Solvers]]:
    """By task, how the models' attempts at it ended; `files` has each model's results in one suite."""
    by_task: dict[str, dict[str, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for model, file in files.items():
        for task, outcome, address in read_attempts(file.extracts.read(ATTEMPTS)):
            by_task[task][outcome].append((address, models[model].name))
    return {
        task: sorted((Solvers(*group) for group in outcomes.items()), key=lambda group: group.order)
        for task, outcomes in by_task.items()
    }


def _failure(outcome: str) -> int:
    """Negative for a success, the better the lower."""
    if outcome == "passed":
        return -100
    return -int(outcome.partition(" ")[0]) if outcome[0].isdigit() else 1
