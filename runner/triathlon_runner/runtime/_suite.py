"""A set of questions asked in one style. A unit is one (program, input)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, Final, Protocol

from triathlon_runner.endpoints import Model, ModelKind
from triathlon_runner.grading import Grader
from triathlon_runner.records import RuntimeRecord
from triathlon_runner.runtime._asking import Asker, sampling
from triathlon_runner.runtime._questions import QuestionFile
from triathlon_runner.runtime._unit import Unit, UnitRun
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo, Task


class Source(Protocol):
    """The questions of a suite, or what builds them."""

    def ready(self) -> QuestionFile | None:
        """The questions, where they need not be built."""
        ...

    async def build(self, sandbox: Sandbox) -> QuestionFile:
        """Builds them."""
        ...


class QuestionsNotBuiltError(RuntimeError):
    """The suite's tasks were read before its questions were built (`prepare`)."""


class RuntimeSuite:
    """Questions about the behaviour of programs."""

    def __init__(
        self, suite_id: str, data: DataSetInfo, asker: Asker, source: Source, temperature: float = 0.0
    ) -> None:
        self.id: Final = suite_id
        self.data: Final = data
        self._asker = asker
        self._source = source
        self._sampling = sampling(asker.style, temperature)
        self._questions = source.ready()

    async def prepare(self, grader: Grader) -> None:
        """Builds the questions where no file holds them.

        Raises:
            SandboxError: the sandbox itself failed.
        """
        if self._questions is None:
            self._questions = await self._source.build(grader.sandbox)

    @property
    def questions(self) -> QuestionFile:
        """All questions with their truth.

        Raises:
            QuestionsNotBuiltError: `prepare` was not called.
        """
        if self._questions is None:
            raise QuestionsNotBuiltError(f"{self.id}: prepare() builds the questions, and was not called")
        return self._questions

    @cached_property
    def _units(self) -> Mapping[str, Unit]:
        return {
            f"{program.task_id}#{asked.index}": Unit(program, asked)
            for program in self.questions.programs
            for asked in program.inputs
        }

    @cached_property
    def _digest(self) -> str:
        """Hash of the questions with their truth, as part of the settings."""
        texts = [program.model_dump_json() for program in self.questions.programs]
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()

    def tasks(self) -> Sequence[Task]:
        return [
            Task(task_id, unit.program.level, unit.program.task_id) for task_id, unit in self._units.items()
        ]

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        """Returns data set, questions, style, sampling and prompts."""
        report = self.questions.report
        return {
            "data": asdict(self.data),
            "questions": {
                "sha256": self._digest,
                "count": report.questions,
                "python": self.questions.python,
                "left_out_programs": report.left_out_programs,
            },
            "style": self._asker.style,
            "asked": "completion" if kind == "base" else "chat",
            "sampling": asdict(self._sampling),
            "prompts": self._asker.digest(),
        }

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        settings_hash: str,
        _judge: Model | None = None,
    ) -> RuntimeRecord:
        """Asks and grades all questions about one input.

        Raises:
            InfrastructureError: no reply to one of them, or the sandbox failed; the unit stays open.
        """
        unit = self._units[task_id]
        running = UnitRun(unit, self._asker, self._sampling, model, grader.sandbox, sample)
        return await running.record(suite=self.id, task_id=task_id, protocol=settings_hash)
