"""Which jobs there are; carries them out, several at a time, and writes what they give.

What is on disk is not done again.
"""

import ast
import asyncio
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from triathlon_runner.datasets import FunctionProblem, Problem
from triathlon_runner.datasets.user import ACCEPTED, Transformation, decision, with_inputs
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.evolved.evolve._draft import UnusableReplyError, functions_in
from triathlon_runner.evolved.evolve._pipeline import DroppedError, Job, Pipeline, Written
from triathlon_runner.foreign_files import object_lines, read_file
from triathlon_runner.llm import CHARACTERS_A_TOKEN, Model, ModelUnavailableError
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
_FORM: Final = (
    "a seed needs a prompt with a function that has parameters, as HumanEval and EvalPlus have it, and inputs"
    " (base_input, or calls with plain values in its tests)"
)

History = dict[str, Any]
"""How a job ended: who wrote its problems (`served_model`), or why there are none (`dropped`)."""


def choose_seeds(functions: Iterable[FunctionProblem]) -> tuple[list[Problem], str]:
    """The problems that can be evolved, and which others can't and why; empty where all can.

    Inputs come from the problem or from the calls in its tests.
    """
    problems = list(map(with_inputs, functions))
    seeds = [problem for problem in problems if parameter_types(problem) and problem.inputs]
    left_out = ", ".join(problem.task_id for problem in problems if problem not in seeds)
    return seeds, f"left out: {shortened(left_out, 200)}: {_FORM}" if left_out else ""


def make_jobs(
    seeds: Sequence[Problem], transformations: Iterable[str], limit: int | None = None
) -> tuple[Job, ...]:
    """Every transformation of every seed, or of the first `limit` of them.

    Raises:
        UserError: an unknown transformation, seeds of which no two can be combined, names too alike.
    """
    jobs: list[Job] = []
    for name in dict.fromkeys(transformations):
        if name not in TRANSFORMATIONS:
            raise UserError(f"unknown transformation {name!r}; there are {', '.join(TRANSFORMATIONS)}")
        families = _pairs(seeds) if name == "combine" else [(seed,) for seed in seeds]
        if name == "combine" and not families:
            raise UserError(
                "combine needs two seeds whose parameters have the same types; there are none: name others at"
                " --transformations"
            )
        jobs += [Job(name, family) for family in families[:limit]]
    if alike := [name for name, count in Counter(job.id for job in jobs).items() if count > 1]:
        raise UserError(
            "expected seeds whose task_ids differ in letters or digits, got several that give"
            f" {alike[0]!r}; rename them"
        )
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
    """The annotations of the parameters as text; empty where there is none, or no function that parses."""
    with suppress(UnusableReplyError):
        for function in functions_in(problem.prompt):
            if function.name == problem.entry_point:
                return tuple(
                    ast.unparse(each.annotation) if each.annotation else "" for each in function.args.args
                )
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
    """The folder of a run: `<transformation>.jsonl`, and `jobs.log` with a line for each job that ended."""

    root: Path

    @property
    def _log(self) -> Path:
        return self.root / "jobs.log"

    def ended(self) -> dict[str, History]:
        """The jobs that ended, by id."""
        return {line["job"]: line for _, line in _rows(self._log, "job", "dropped")}

    def write(self, job: Job, problems: Sequence[Written], history: History) -> None:
        """Adds the job's problems, then its line: a job counts as done only where both are there."""
        path = self.root / f"{job.transformation}.jsonl"
        known = {row["task_id"] for _, row in _rows(path, "task_id")}
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
        if new := [json.dumps(row) for row in rows if row["task_id"] not in known]:
            _add(path, *new)
        _add(self._log, json.dumps({"job": job.id, **history}))

    def check(self, seeds: Iterable[Problem]) -> None:
        """Checks that results of these seeds can be written there, before a model is paid.

        Raises:
            UserError: they can't, or a file that is there cannot be read or is of other seeds.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"--out expects a folder that can be written, got {str(self.root)!r} ({error.strerror});"
                " name another one"
            ) from error
        self.ended()
        if not self._log.exists():  # else another `evolve` may add to it at this moment
            _add(self._log)
        names = {seed.task_id for seed in seeds}
        for path in self._sets:
            for place, row in _rows(path, "task_id"):
                decision(row, place)
                parents = row.get("parents", [])
                if not isinstance(parents, list) or not names.issuperset(map(str, parents)):
                    raise UserError(
                        f"{place}: expected parents among these seeds, got {parents!r:.80}; name another"
                        " folder at --out"
                    )

    @property
    def _sets(self) -> list[Path]:
        """The files of problems: a person's copy under another name is none."""
        return sorted(path for path in self.root.glob("*.jsonl") if path.stem in TRANSFORMATIONS)

    def decisions(self) -> dict[Path, Counter[bool | None]]:
        """By file of problems, how many are accepted, refused and await a decision (None).

        Raises:
            UserError: a line is no JSON object, or its decision is none.
        """
        found: dict[Path, Counter[bool | None]] = {}
        for path in self._sets:
            found[path] = Counter(decision(row, place) for place, row in _rows(path, "task_id"))
        return found


def _add(path: Path, *lines: str) -> None:
    """Writes a file with more lines: all of it, or nothing where there is no room."""
    stored = read_file(path).decode().rstrip("\n") if path.exists() else ""
    replace_file(path, "".join(f"{line}\n" for line in (stored, *lines) if line))


def _rows(path: Path, *keys: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields place and content of a file's lines, which a person may have edited; none without a file."""
    for place, row in object_lines(path, read_file(path) if path.exists() else b""):
        for key in keys:
            if not isinstance(row.get(key), str):
                raise UserError(f"{place}: expected {key!r} as text, got {row!r:.80}; correct the line")
        yield place, row


def summary(ended: Collection[History]) -> str:
    """How many jobs gave a problem, and why the others did not."""
    reasons = Counter(history["dropped"] for history in ended if history["dropped"])
    lines = [f"{len(ended) - reasons.total()} of {len(ended)} jobs gave a problem"]
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
    stopped: bool = False
    """Whether the model cannot be asked any more, as one of these errors says."""


async def carry_out(
    jobs: Sequence[Job],
    workspace: Workspace,
    model: Model,
    prompts: PromptSet,
    sandbox: Sandbox,
    *,
    report: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Carries out what is not on disk yet. `report` gets the progress after every job that ended."""
    ended = workspace.ended()
    remaining = [job for job in jobs if job.id not in ended]
    progress = Progress(len(jobs), done_before=len(jobs) - len(remaining))
    slots = asyncio.Semaphore(MAX_JOBS)

    async def carry_out_one(job: Job) -> None:
        pipeline = Pipeline(job, model, prompts, sandbox)
        problems: tuple[Written, ...] = ()
        dropped = ""
        async with slots:
            try:
                problems = await pipeline.run()
            except DroppedError as error:
                dropped = str(error)
            except InfrastructureError as error:
                progress.open[job.id] = str(error)
                progress.stopped |= isinstance(error, ModelUnavailableError)
            if job.id not in progress.open:
                progress.finished += bool(problems)
                progress.dropped += not problems
                history = {"served_model": pipeline.served_model, "dropped": dropped}
                workspace.write(job, problems, history)
                report(progress)

    async with asyncio.TaskGroup() as group:
        for job in remaining:
            group.create_task(carry_out_one(job))
    return progress
