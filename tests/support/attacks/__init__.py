"""A library of hostile programs, and a run of them against the live engine: what scored, stole or harmed.

Each program is one documented attack on one task: `f(x)` is to return x + 1. They are bounded and touch only
this machine. They are one file each under `programs/`, with their purpose in the first three lines.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.attacks._canary import Canary, canary, count_server_processes
from support.case_files import sections
from triathlon_runner.datasets import ClassProblem, Problem, TestedProblem
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.runtime import Graded, grade_output
from triathlon_runner.runtime._programs import class_program, output_question
from triathlon_runner.sandbox import (
    Examination,
    Execution,
    Job,
    Raised,
    Sandbox,
    SandboxError,
    Sent,
    TakeResult,
    open_sandbox,
)

_TEXTS = sections(Path(__file__).with_name("texts.txt"))


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile program; its purpose, kind and the like are comments at its top."""

    name: str
    source: str

    def says(self, line: str) -> bool:
        """Whether one of these comments is this line.

        `honest: yes`: its answers are right, so it may pass, but must not steal or damage anything.
        `task: tests`: it is graded by tests that are code, not by its outputs.
        `answer: yes`: it is the answer to a question (a completed assertion), not a program.
        `task: class`: the question is about the class that a unittest module tests, not the function `f`.
        """
        return f"# {line}\n" in self.source

    def program(self, places: dict[str, str]) -> str:
        """The program, aimed at this run's canaries, behind what leaves a trace of its success."""
        text = self.source if self.says("answer: yes") else f"{_TEXTS['loot']}\n\n{self.source}"
        for name, value in places.items():
            text = text.replace(f"@{name}@", value)
        return text


def library() -> tuple[Attack, ...]:
    """All attacks, by name; the second half of a pair comes right after the first."""
    paths = sorted((Path(__file__).parent / "programs").glob("*.py.txt"))
    return tuple(Attack(path.name.removesuffix(".py.txt"), path.read_text("utf-8")) for path in paths)


TASK = Problem(
    task_id="attack/successor",
    entry_point="f",
    prompt="def f(x):\n",
    reference="def f(x):\n    return x + 1\n",
    inputs=("(1,)", "(2,)", "(3,)", "(10,)", "(-5,)"),
)
TESTED_TASK = TestedProblem(
    "attack/tested", "f", TASK.prompt, "assert f(1) == 2\nassert f(3) == 4\n", TASK.reference
)
QUESTION, _ = output_question(CruxevalTask("attack/successor", TASK.reference, "3", "4"))
CLASS_QUESTION = class_program(ClassProblem("attack/steps", "Steps", _TEXTS["class"], _TEXTS["tests"]))
"""The questions that attacks of the kind `answer: yes` answer."""
CPU_SECONDS = 1.0
WALL_SECONDS = 5.0
SETTLE_SECONDS = 0.05


async def attack(level: str, attacks: Iterable[Attack]) -> dict[str, list[str]]:
    """Grades hostile programs on the live engine; what each of them did, of those that did anything.

    Raises:
        SandboxError: the engine does not work at this level.
    """
    async with open_sandbox(level, 1) as sandbox:
        with canary() as bait:
            run = _AttackRun(sandbox, bait)
            await run.warm_up()
            found = {attack.name: await run.faults(attack) for attack in attacks}
    return {name: faults for name, faults in found.items() if faults}


class _Watching:
    """A sandbox that records what the last program printed and returned, to search it for stolen data."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.last = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    def _note(self, *parts: object) -> None:
        self.last = "\n".join((self.last, *(str(part)[:100_000] for part in parts)))

    async def run(self, job: Job) -> Execution:
        execution = await self._sandbox.run(job)
        self._note(execution.stdout, execution.stderr, execution.results)
        return execution

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        examination = await self._sandbox.examine(examiner, candidate)
        for execution in (examination.examiner, examination.candidate):
            self._note(execution.stdout, execution.stderr, execution.results)
        return examination

    async def stream(self, job: Job, take: TakeResult) -> Execution:
        def noted(index: int, result: Sent | Raised) -> bool:
            self._note(result)
            return take(index, result)

        execution = await self._sandbox.stream(job, noted)
        self._note(execution.stdout, execution.stderr)
        return execution


class _AttackRun:
    def __init__(self, sandbox: Sandbox, bait: Canary) -> None:
        self._sandbox = _Watching(sandbox)
        self._bait = bait
        self._grader = ProgramGrader(
            self._sandbox, None, min_cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS
        )
        self._servers = 0

    async def warm_up(self) -> None:
        """Checks that what is honest passes before anything else is graded."""
        for task in (TASK, TESTED_TASK):
            assert (await self._grader.grade(TASK.reference, task)).outcome is Outcome.PASSED
        for question in (QUESTION, CLASS_QUESTION):
            asked = question.inputs[0]
            answer = question.masked_test(asked).completed()
            assert (await grade_output(self._sandbox, question, asked, answer)).correct
        # A program may ask for numpy's server by its imports: it is no survivor.
        await self._grader.grade(f"import numpy\n{TASK.reference}", TASK)
        await asyncio.sleep(SETTLE_SECONDS)  # until the next child is ready
        self._servers = count_server_processes()

    async def faults(self, attack: Attack) -> list[str]:
        """Grades one hostile program; what it scored, stole, damaged or left running."""
        self._bait.reset()
        faults: list[str] = []
        try:
            verdict = await self._grade(attack)
            if verdict.outcome is Outcome.PASSED and not attack.says("honest: yes"):
                faults.append("graded passed")
            _ = verdict.why.encode() if isinstance(verdict, Graded) else verdict.model_dump_json()
        except (SandboxError, ValueError) as error:
            faults.append(f"no verdict, or one that can't be written: {error!r}")
        faults.append(self._bait.stolen(self._sandbox.last))
        await asyncio.sleep(SETTLE_SECONDS)
        survivors = count_server_processes() - self._servers
        faults.append(f"{survivors} processes outlived the verdict" if survivors > 0 else "")
        faults.append(self._bait.damage())
        honest = await self._grader.grade(TASK.reference, TASK)
        faults.append("" if honest.outcome is Outcome.PASSED else f"the honest program: {honest.outcome}")
        return [fault for fault in faults if fault]

    async def _grade(self, attack: Attack) -> Verdict | Graded:
        self._sandbox.last = ""
        program = attack.program(self._bait.places)
        if attack.says("answer: yes"):
            question = CLASS_QUESTION if attack.says("task: class") else QUESTION
            return await grade_output(self._sandbox, question, question.inputs[0], program)
        task = TESTED_TASK if attack.says("task: tests") else TASK
        return await self._grader.grade(program, task)
