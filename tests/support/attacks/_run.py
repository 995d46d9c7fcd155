"""A library of hostile programs, and a run of them against the live engine: what scored, stole or harmed.

Each program is one documented attack on one task: `f(x)` is to return x + 1. They are bounded and touch only
this machine. They are one file each under `programs/`, with their purpose in the first three lines.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.attacks._canary import Canary, canary, server_processes
from support.case_files import sections
from triathlon_runner.datasets import ClassProblem, Problem
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import CodeTestGrader, ProgramGrader
from triathlon_runner.records import Outcome, Verdict
from triathlon_runner.runtime import Graded, InputQuestions, ProgramQuestions, grade_output
from triathlon_runner.runtime._programs import output_question
from triathlon_runner.sandbox import (
    Examination,
    Execution,
    Job,
    Limits,
    Raised,
    Sandbox,
    SandboxError,
    Sent,
    TakeResult,
    open_sandbox,
)

_PROGRAMS = Path(__file__).parent / "programs"

_TEXTS = sections(Path(__file__).with_name("texts.txt"))
_LOOT = f"{_TEXTS['loot']}\n\n"
"""What an attack leaves a trace of its success with."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile program."""

    name: str
    what: str
    kind: str
    """`cheat`, `theft`, `sabotage` or `dos`."""
    honest: bool
    """Its answers are right: it may pass, but must not steal or damage anything."""
    source: str
    on_class: bool = False
    """It defines the class that a unittest module tests, not the function `f`."""
    is_answer: bool = False
    """It is the answer to a question (a completed assertion), not a program."""

    def program(self, places: dict[str, str]) -> str:
        """The program, aimed at this run's canaries."""
        text = self.source if self.is_answer else _LOOT + self.source
        for name, value in places.items():
            text = text.replace(f"@{name}@", value)
        return text


def library() -> tuple[Attack, ...]:
    """All attacks, by name; the second half of a pair comes right after the first."""
    return tuple(_read(path) for path in sorted(_PROGRAMS.glob("*.py.txt")))


def _read(path: Path) -> Attack:
    source = path.read_text(encoding="utf-8")
    what, kind, honest = (line.removeprefix("# ") for line in source.splitlines()[:3])
    return Attack(
        name=path.name.removesuffix(".py.txt"),
        what=what,
        kind=kind.removeprefix("kind: "),
        honest=honest == "honest: yes",
        source=source,
        on_class="# task: class\n" in source,
        is_answer="# answer: yes\n" in source,
    )


# The run

TASK = Problem(
    task_id="attack/successor",
    entry_point="f",
    prompt="def f(x):\n",
    reference="def f(x):\n    return x + 1\n",
    inputs=("(1,)", "(2,)", "(3,)", "(10,)", "(-5,)"),
)
CLASS_TASK = ClassProblem("attack/steps", "Steps", _TEXTS["class"], _TEXTS["tests"])
QUESTION, _ = output_question(CruxevalTask("attack/successor", TASK.reference, "3", "4"))
_ASKED_OF_CLASS = InputQuestions(
    index=0,
    text="steps = Steps(1)\nassertEqual(steps.take(1), 2)",
    test_class="StepsTest",
    test_method="test_take",
    masked="steps = Steps(1)\nassertEqual(steps.take(1), ??)",
    originals=("2",),
    statements=(),
)
CLASS_QUESTION = ProgramQuestions(
    task_id="attack/steps",
    program=CLASS_TASK.reference,
    entry_point="Steps",
    test=CLASS_TASK.test,
    inputs=(_ASKED_OF_CLASS,),
)
"""The questions that attacks of the kind `is_answer` answer, about the same function and class."""
CPU_SECONDS = 1.0
WALL_SECONDS = 5.0
SETTLE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class AttackResult:
    """The result of one attack; every field but the first three is empty where the engine held."""

    name: str
    kind: str
    outcome: str
    scored: str = ""
    """A wrong program was graded passed."""
    stole: str = ""
    harmed: str = ""
    """The machine, the engine, or the verdict over the honest program that came next."""
    survived: str = ""
    """A process outlived the verdict."""

    @property
    def held(self) -> bool:
        return not (self.scored or self.stole or self.harmed or self.survived)


async def attack(level: str = "auto", attacks: Iterable[Attack] = ()) -> list[AttackResult]:
    """Grades hostile programs, by default all, on the live engine and looks at what each did.

    Raises:
        SandboxError: the engine does not work at this level.
    """
    async with open_sandbox(level, 1) as sandbox:
        with canary() as bait:
            run = _AttackRun(sandbox, bait)
            await run.warm_up()
            return [await run.result(attack) for attack in attacks or library()]


class _Watching:
    """A sandbox that records what the last program printed and returned, to search it for stolen data."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.last = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    def _note(self, *executions: Execution, sent: object = "") -> None:
        parts = [f"{run.stdout}\n{run.stderr}\n{str(run.results)[:100_000]}" for run in executions]
        self.last = "\n".join([*parts, str(sent)[:100_000]])

    async def run(self, job: Job) -> Execution:
        execution = await self._sandbox.run(job)
        self._note(execution)
        return execution

    async def examine(self, examiner: Job, candidate: Job) -> Examination:
        examination = await self._sandbox.examine(examiner, candidate)
        self._note(examination.examiner, examination.candidate)
        return examination

    async def stream(self, job: Job, take: TakeResult) -> Execution:
        sent: list[Sent | Raised] = []

        def noted(index: int, result: Sent | Raised) -> bool:
            sent.append(result)
            return take(index, result)

        execution = await self._sandbox.stream(job, noted)
        self._note(execution, sent=sent)
        return execution


class _AttackRun:
    def __init__(self, sandbox: Sandbox, bait: Canary) -> None:
        self._sandbox = _Watching(sandbox)
        self._bait = bait
        limits = Limits(cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS)
        self._grader = ProgramGrader(
            self._sandbox, None, min_cpu_seconds=CPU_SECONDS, wall_seconds=WALL_SECONDS
        )
        self._classes = CodeTestGrader(self._sandbox, limits)
        self._servers = 0

    async def warm_up(self) -> None:
        """Checks that what is honest passes before anything else is graded."""
        assert not await self._reference_fault()
        assert (await self._classes.grade(CLASS_TASK.reference, CLASS_TASK)).outcome is Outcome.PASSED
        for question in (QUESTION, CLASS_QUESTION):
            (asked,) = question.inputs
            answer = question.masked_test(asked).completed()
            assert (await grade_output(self._sandbox, question, asked, answer)).correct
        # A program may ask for numpy's server by its imports: it is no survivor.
        await self._grader.grade(f"import numpy\n{TASK.reference}", TASK)
        await asyncio.sleep(SETTLE_SECONDS)  # until the next child is ready
        self._servers = len(server_processes())

    async def result(self, attack: Attack) -> AttackResult:
        """Grades one hostile program, then checks what it stole, damaged or left running."""
        self._bait.reset()
        harmed, outcome, self._sandbox.last = "", "engine failed", ""
        program = attack.program(self._bait.places)
        verdict: Verdict | Graded
        try:
            if attack.is_answer:
                question = CLASS_QUESTION if attack.on_class else QUESTION
                verdict = await grade_output(self._sandbox, question, question.inputs[0], program)
            elif attack.on_class:
                verdict = await self._classes.grade(program, CLASS_TASK)
            else:
                verdict = await self._grader.grade(program, TASK)
            outcome = verdict.outcome
            _ = verdict.why.encode() if isinstance(verdict, Graded) else verdict.model_dump_json()
        except SandboxError as error:
            harmed = f"the engine failed: {error}"
        except ValueError as error:
            harmed = f"the verdict can't be written: {error}"
        loot = self._bait.stolen(self._sandbox.last)
        await asyncio.sleep(SETTLE_SECONDS)
        alive = len(server_processes())
        damage = harmed or self._bait.damage() or await self._reference_fault()
        theft = attack.kind in ("theft", "cheat")
        return AttackResult(
            name=attack.name,
            kind=attack.kind,
            outcome=outcome,
            scored="graded passed" if outcome == Outcome.PASSED and not attack.honest else "",
            stole=loot if theft else "",
            harmed=damage or ("" if theft else loot),
            survived=f"{alive - self._servers} processes" if alive > self._servers else "",
        )

    async def _reference_fault(self) -> str:
        """How the verdict over the honest program is wrong, or empty."""
        try:
            verdict = await self._grader.grade(TASK.reference, TASK)
        except SandboxError as error:
            return f"the engine failed on the honest program: {error}"
        return "" if verdict.outcome is Outcome.PASSED else f"the honest program was graded {verdict.outcome}"
