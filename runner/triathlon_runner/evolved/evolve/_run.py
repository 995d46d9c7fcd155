"""Which jobs there are; carries them out, several at a time, and writes what they give.

What is on disk is not done again.
"""

import ast
import asyncio
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from triathlon_runner.datasets import FunctionProblem, Problem
from triathlon_runner.datasets.user import ACCEPTED, Transformation, with_inputs
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.evolved.evolve._draft import functions_in
from triathlon_runner.evolved.evolve._pipeline import DroppedError, Job, Pipeline, Written
from triathlon_runner.llm import CHARACTERS_A_TOKEN, Model
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Usage
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.store import replace_file
from triathlon_runner.syntax import call_text
from triathlon_runner.terminal import shortened

TRANSFORMATIONS: Final[tuple[Transformation, ...]] = get_args(Transformation)
MAX_JOBS: Final = 8
"""Jobs in flight; the endpoint and the sandbox have limits of their own."""
_REQUESTS: Final = {"verbose": 2, "concise": 2, "decompose": 12}
_USUAL_REQUESTS: Final = 6
"""Questions of a job that goes well the first time; each further round takes about four more."""
_PROMPT_CHARACTERS: Final = 1200
"""Characters of our own prompts around a problem, on average."""
_TOKENS_A_REPLY: Final = 450
_NO_FUNCTION: Final = (
    "the prompt has no function with parameters to rewrite; write the problem in the format of HumanEval or"
    " EvalPlus"
)
_NO_INPUTS: Final = "the tests call it with no plain values to run the reference on; add them as base_input"

History = dict[str, Any]
"""All steps of one job, for the person who decides about its problem."""


def choose_seeds(functions: Iterable[FunctionProblem]) -> tuple[list[Problem], list[str]]:
    """The problems that can be evolved, and a line for each reason why others cannot.

    Inputs come from the problem or from the calls in its tests.
    """
    seeds: list[Problem] = []
    left_out: dict[str, list[str]] = defaultdict(list)
    for problem in map(with_inputs, functions):
        if parameter_types(problem) and problem.inputs:
            seeds.append(problem)
        else:
            left_out[_NO_INPUTS if parameter_types(problem) else _NO_FUNCTION].append(problem.task_id)
    return seeds, [f"left out: {shortened(', '.join(ids), 200)}: {why}" for why, ids in left_out.items()]


def make_jobs(
    seeds: Sequence[Problem], transformations: Iterable[str], limit: int | None = None
) -> tuple[Job, ...]:
    """Every transformation of every seed, or of the first `limit` of them.

    Raises:
        UserError: an unknown transformation, or seeds of which no two can be combined.
    """
    jobs: list[Job] = []
    for name in transformations:
        if name not in TRANSFORMATIONS:
            raise UserError(f"unknown transformation {name!r}; there are {', '.join(TRANSFORMATIONS)}")
        families = _pairs(seeds) if name == "combine" else [(seed,) for seed in seeds]
        if name == "combine" and not families:
            raise UserError("combine needs two seeds whose parameters have the same types; there are none")
        jobs += [Job(name, family) for family in families[:limit]]
    return tuple(jobs)


def _pairs(seeds: Sequence[Problem]) -> list[tuple[Problem, ...]]:
    """Each seed with another one whose parameters have the same types, as EvoEval chooses what to combine.

    The partner is drawn by hash: neighbours in a set are often alike.
    """

    def names_hash(pair: tuple[Problem, ...]) -> bytes:
        return hashlib.sha256("+".join(sorted(problem.task_id for problem in pair)).encode()).digest()

    groups: dict[tuple[str, ...], list[Problem]] = defaultdict(list)
    for seed in seeds:
        groups[parameter_types(seed)].append(seed)
    pairs: dict[frozenset[str], tuple[Problem, ...]] = {}
    for seed in seeds:
        possible = [(seed, partner) for partner in groups[parameter_types(seed)] if partner is not seed]
        if possible:
            pair = min(possible, key=names_hash)
            pairs[frozenset(problem.task_id for problem in pair)] = pair
    return list(pairs.values())


def parameter_types(problem: Problem) -> tuple[str, ...]:
    """The annotations of the parameters as text; empty where there is none."""
    for function in functions_in(problem.prompt):
        if function.name == problem.entry_point:
            return tuple(ast.unparse(arg.annotation) if arg.annotation else "" for arg in function.args.args)
    return ()


def estimate(jobs: Iterable[Job]) -> Usage:
    """What these jobs will take, roughly, if every one goes well the first time."""
    usage = Usage()
    for job in jobs:
        requests = _REQUESTS.get(job.transformation, _USUAL_REQUESTS)
        characters = sum(len(parent.prompt) for parent in job.parents) + _PROMPT_CHARACTERS
        usage += Usage(
            requests=requests,
            input_tokens=round(requests * characters / CHARACTERS_A_TOKEN),
            output_tokens=requests * _TOKENS_A_REPLY,
        )
    return usage


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of a run: `<transformation>.jsonl` and `history/<job>.json`."""

    root: Path

    def history(self, job: Job) -> Path:
        return self.root / "history" / f"{job.id}.json"

    def is_done(self, job: Job) -> bool:
        return self.history(job).exists()

    def write(self, job: Job, problems: Sequence[Written], history: History) -> None:
        """Adds the job's problems, then its history: a job counts as done only where both are there."""
        if problems:
            path = self.root / f"{job.transformation}.jsonl"
            stored = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else ""
            known = {row["task_id"] for row in _rows(path)}
            rows = [  # in the form of `problems:` in suites.yaml; nothing is accepted yet
                {
                    ACCEPTED: None,
                    "task_id": f"{job.id}-{number}" if len(problems) > 1 else job.id,
                    "parents": [parent.task_id for parent in job.parents],
                    "entry_point": written.draft.entry_point,
                    "prompt": written.draft.prompt,
                    "reference": written.reference,
                    "inputs": [call_text("", text)[1:-1] for text in written.inputs],
                }
                for number, written in enumerate(problems, start=1)
            ]
            new = [json.dumps(row) for row in rows if row["task_id"] not in known]
            replace_file(path, "".join(f"{line}\n" for line in (stored, *new) if line))
        self.history(job).parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.history(job), json.dumps(history, indent=1, ensure_ascii=False) + "\n")

    def check(self) -> None:
        """Checks that results can be written there, before a model is paid.

        Raises:
            UserError: they can't, or a set that is there cannot be read.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            replace_file(self.root / ".writable", "")
            (self.root / ".writable").unlink()
        except OSError as error:
            raise UserError(
                f"--out expects a folder that can be written, got {str(self.root)!r} ({error.strerror});"
                " name another one"
            ) from error
        self.decisions()

    def decisions(self) -> dict[Path, Counter[bool | None]]:
        """By file of problems, how many are accepted, refused and await a decision (None).

        Raises:
            UserError: a line is no JSON object.
        """
        files = sorted(self.root.glob("*.jsonl"))
        return {path: Counter(row.get(ACCEPTED, True) for row in _rows(path)) for path in files}

    def histories(self) -> list[History]:
        """Of all jobs that ended, in the order of their ids."""
        return [json.loads(path.read_bytes()) for path in sorted(self.root.glob("history/*/*.json"))]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file of problems, which a person has edited; none where there is no such file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                row = json.loads(line)
                row["task_id"]
            except (ValueError, TypeError, LookupError) as error:
                raise UserError(
                    f"{path}, line {number}: expected a JSON object with a task_id, got {line[:80]!r}"
                    f" ({error}); correct the line"
                ) from None
            yield row


def summary(histories: Sequence[History]) -> str:
    """How many jobs gave a problem, and why the others did not."""
    reasons = Counter(history["reason"] for history in histories if history["status"] == "dropped")
    lines = [f"{len(histories) - reasons.total()} of {len(histories)} jobs gave a problem"]
    return "\n".join([*lines, *(f"dropped {count}: {reason}" for reason, count in reasons.most_common())])


@dataclass(slots=True)
class Progress:
    """Where a run stands."""

    jobs: int
    done_before: int = 0
    finished: int = 0
    dropped: int = 0
    open: dict[str, str] = field(default_factory=dict)
    """Job ids whose model or machinery failed, with the error; the next run tries them again."""
    usage: Usage = field(default_factory=Usage)


async def carry_out(
    jobs: Sequence[Job],
    workspace: Workspace,
    model: Model,
    prompts: PromptSet,
    sandbox: Sandbox,
    *,
    stopped: Callable[[], str] = str,
    report: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Carries out what is not on disk yet. `report` gets the progress after every job.

    `stopped` returns why no new job begins; empty while they may.
    """
    remaining = [job for job in jobs if not workspace.is_done(job)]
    progress = Progress(len(jobs), done_before=len(jobs) - len(remaining))
    slots = asyncio.Semaphore(MAX_JOBS)

    async def carry_out_one(job: Job) -> None:
        pipeline = Pipeline(job, model, prompts, sandbox)
        problems: tuple[Written, ...] = ()
        reason = ""
        async with slots:
            if why := stopped():
                progress.open[job.id] = why
            else:
                try:
                    problems = await pipeline.run()
                except DroppedError as error:
                    reason = str(error)
                except InfrastructureError as error:
                    progress.open[job.id] = stopped() or str(error)
            progress.usage += pipeline.usage
            if job.id not in progress.open:
                progress.finished += bool(problems)
                progress.dropped += not problems
                workspace.write(job, problems, _history(pipeline, reason))
            report(progress)

    async with asyncio.TaskGroup() as group:
        for job in remaining:
            group.create_task(carry_out_one(job))
    return progress


def _history(pipeline: Pipeline, reason: str) -> History:
    return {
        "schema": 3,
        "job": pipeline.job.id,
        "transformation": pipeline.job.transformation,
        "parents": [parent.task_id for parent in pipeline.job.parents],
        "model": pipeline.model.id,
        "served_model": pipeline.served_model,
        "prompts": pipeline.prompts.sha256,  # those that were used
        "status": "dropped" if reason else "finished",
        "reason": reason,
        "rounds": pipeline.round,
        "steps": pipeline.steps,
        "usage": pipeline.usage.model_dump(mode="json"),
    }
