"""What a run of the pipeline leaves on disk: problem files in our format, histories, what was dropped."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import tomli_w
from pydantic import Field

from triathlon_runner.datasets.core import CANARY
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve._conversation import Step
from triathlon_runner.evolved.evolve._job import PRESERVING, Job
from triathlon_runner.evolved.evolve._pipeline import Evolved
from triathlon_runner.evolved.evolve._refine import Written
from triathlon_runner.records import Strict, Usage
from triathlon_runner.store import replace_file

HARDEST: Final = 5


class History(Strict):
    """All steps of one job. Stored beside the problem file; a dropped problem has only this file."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    job: str
    transformation: str
    parents: tuple[str, ...]
    model: str
    served_model: str = ""
    prompts: str
    """Hash of the prompts that were used."""
    status: Literal["finished", "dropped"]
    reason: str = ""
    """Why it was dropped."""
    file: str = ""
    """Name of the problem file; empty where it was dropped."""
    rounds: int = 0
    steps: tuple[Step, ...]
    usage: Usage
    cost_usd: float | None = None
    solutions: tuple[str, ...] = ()
    """Both solutions of each problem that was written, for the reviewer to compare."""
    mutants: int = 0
    killed: int = 0
    survivors: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    """Inputs on which the two solutions differ, found after they had agreed: a reader should look at them."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """`<job>.history.json` for every job that ended; `<job>.toml` beside it where it gave a problem."""

    root: Path

    def history(self, job: Job) -> Path:
        return self.root / f"{job.id}.history.json"

    def problem(self, job: Job) -> Path:
        return self.root / f"{job.id}.toml"

    def is_done(self, job: Job) -> bool:
        return self.history(job).exists()

    def write(self, job: Job, evolved: Evolved | None, history: History) -> None:
        """The problem first, its history last: a job counts as done only where both are there."""
        self.history(job).parent.mkdir(parents=True, exist_ok=True)
        if evolved is not None:
            replace_file(self.problem(job), problem_text(job, evolved))
        replace_file(self.history(job), history.model_dump_json(by_alias=True, indent=1) + "\n")

    def check(self) -> None:
        """Whether results can be written there: looked at before a model is paid.

        Raises:
            UserError: they can't.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            replace_file(self.root / ".writable", "")
            (self.root / ".writable").unlink()
        except OSError as error:
            raise UserError(
                f"--out expects a folder that can be written, got {str(self.root)!r}: {error}."
                " Name another one."
            ) from error

    def histories(self) -> list[History]:
        """Of all jobs that ended, in the order of their ids."""
        paths = sorted(self.root.glob("*/*.history.json"))
        return [History.model_validate_json(path.read_bytes()) for path in paths]


def problem_text(job: Job, evolved: Evolved) -> str:
    """The problem file: the format of our own problems, ready to be reviewed and moved beside them."""
    if job.transformation in PRESERVING:
        content: dict[str, Any] = {"canary": CANARY, "prompt": _block(evolved.problems[0].draft.prompt)}
    elif job.transformation == "decompose":
        halves = [_tested_fields(written) for written in evolved.problems]
        content = {"canary": CANARY, "join": _block(evolved.join), "half": halves}
    else:
        content = _problem_fields(job, evolved.problems[0])
    return tomli_w.dumps(content, multiline_strings=True)


def _problem_fields(job: Job, written: Written) -> dict[str, Any]:
    parents, helpers = job.parents, written.draft.helpers
    levels = [parent.level for parent in parents if parent.level is not None]
    harder = job.transformation in ("difficult", "combine")
    return {
        "canary": CANARY,
        "level": min(HARDEST, max(levels, default=3) + harder),
        "topics": list(dict.fromkeys(topic for parent in parents for topic in parent.topics)),
        "parents": [parent.task_id.rpartition("/")[2] for parent in parents],
        **({"helpers": _block(helpers)} if helpers else {}),
        **_tested_fields(written),
        "wrong": [],
    }


def _tested_fields(written: Written) -> dict[str, Any]:
    helpers, inputs = written.draft.helpers, enumerate(written.inputs, 1)
    return {
        "prompt": _block(_main_part(written.draft.prompt, helpers)),
        "reference": _block(_main_part(written.reference, helpers)),
        "inputs": {f"{number} ({source})": text for number, (source, text) in inputs},
    }


def _main_part(program: str, helpers: str) -> str:
    """The program without the helpers that stand in the file by themselves."""
    return program.replace(helpers, "", 1).lstrip("\n") if helpers else program


def _block(text: str) -> str:
    return "\n" + text.strip("\n") + "\n"


def summary(histories: Sequence[History]) -> str:
    """How many jobs gave a problem, and why the others did not."""
    reasons = Counter(history.reason for history in histories if history.status == "dropped")
    finished = len(histories) - reasons.total()
    lines = [f"{finished} of {len(histories)} jobs gave a problem"]
    return "\n".join([*lines, *(f"dropped {count}: {reason}" for reason, count in reasons.most_common())])
