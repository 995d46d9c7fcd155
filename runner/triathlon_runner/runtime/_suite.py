"""A set of questions asked in one style. A unit is one (program, input), all of whose questions are asked."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Protocol

from triathlon_runner.endpoints import Answer, Model, ModelKind, ModelUnavailableError, Sampling
from triathlon_runner.errors import InfrastructureError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.records import AnswerRecord, Outcome, RuntimeRecord, StatementRecord, Usage
from triathlon_runner.runtime._answers import extract_answer
from triathlon_runner.runtime._asking import Asker, QuestionKind, sampling, sentence_of
from triathlon_runner.runtime._grade import (
    Graded,
    expected_coverage,
    expected_output,
    expected_path,
    expected_state,
    grade_coverage,
    grade_output,
    grade_path,
    grade_state,
)
from triathlon_runner.runtime._questions import (
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
)
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo, Task

_GradeAnswer = Callable[[str], Awaitable[Graded]]


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
    def _units(self) -> Mapping[str, "_Unit"]:
        return {
            f"{program.task_id}#{asked.index}": _Unit(program, asked)
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
        running = _UnitRun(unit, self._asker, self._sampling, model, grader.sandbox, sample)
        return await running.record(suite=self.id, task_id=task_id, protocol=settings_hash)


@dataclass(frozen=True, slots=True)
class _Asked:
    """An answer as a record, with what it took."""

    record: AnswerRecord
    answer: Answer


@dataclass(frozen=True, slots=True)
class _Unit:
    """What is asked about one input."""

    program: ProgramQuestions
    asked: InputQuestions


@dataclass(frozen=True)
class _UnitRun:
    """One sample of one unit with one model."""

    unit: _Unit
    asker: Asker
    sampling: Sampling
    model: Model
    sandbox: Sandbox
    sample: int

    async def record(self, *, suite: str, task_id: str, protocol: str) -> RuntimeRecord:
        """Asks all questions and grades the answers.

        Raises:
            InfrastructureError: a question has no reply, or the sandbox failed.
        """
        program, asked = self.unit.program, self.unit.asked
        try:
            async with asyncio.TaskGroup() as group:
                output = group.create_task(self._output())
                statements = [group.create_task(self._statement(question)) for question in asked.statements]
        except* InfrastructureError as errors:
            raise _most_serious(errors) from errors
        answers = [answer for task in statements for answer in task.result()] + [output.result()]
        usage = sum((answer.answer.usage for answer in answers), Usage())
        right = all(answer.record.correct for answer in answers)
        return RuntimeRecord(
            suite=suite,
            model=self.model.id,
            task_id=task_id,
            sample=self.sample,
            protocol=protocol,
            outcome=Outcome.PASSED if right else Outcome.FAILED,
            usage=usage,
            seconds=max(answer.answer.seconds for answer in answers),
            style=self.asker.style,
            program_id=program.task_id,
            program=program.program,
            setup=asked.setup,
            input=asked.text,
            statements=tuple(
                StatementRecord(
                    line=question.line,
                    variable=question.variable,
                    coverage=task.result()[0].record,
                    state=task.result()[1].record,
                    path=task.result()[2].record,
                )
                for question, task in zip(asked.statements, statements, strict=True)
            ),
            output=output.result().record,
        )

    async def _statement(self, question: StatementQuestion) -> tuple[_Asked, _Asked, _Asked]:
        text = self.unit.program.program

        async def coverage(answer: str) -> Graded:
            return grade_coverage(question, answer)

        async def state(answer: str) -> Graded:
            return grade_state(question, answer)

        async def path(answer: str) -> Graded:
            return grade_path(text, question, answer)

        async with asyncio.TaskGroup() as group:
            tasks = (
                group.create_task(self._ask("coverage", question, expected_coverage(question), coverage)),
                group.create_task(self._ask("state", question, expected_state(question), state)),
                group.create_task(self._ask("path", question, expected_path(text, question), path)),
            )
        return tasks[0].result(), tasks[1].result(), tasks[2].result()

    async def _output(self) -> _Asked:
        program, asked = self.unit.program, self.unit.asked

        async def output(answer: str) -> Graded:
            return await grade_output(self.sandbox, program, asked, answer)

        return await self._ask("output", None, expected_output(asked), output)

    async def _ask(
        self,
        kind: QuestionKind,
        statement: StatementQuestion | None,
        expected: tuple[str, ...],
        grade: _GradeAnswer,
    ) -> _Asked:
        question = self.asker.question(kind, self.unit.program, self.unit.asked, statement)
        prompt = self.asker.prompt(kind, question, completes=self.model.kind == "base")
        answer = await self.model.ask(prompt, self.sampling, sample=self.sample)
        extracted = extract_answer(answer.reply, self.asker.style, kind)
        if extracted.text is None:
            graded = Graded(extracted.outcome or Outcome.NO_ANSWER, extracted.why)
        else:
            graded = await grade(extracted.text)
        record = AnswerRecord(
            question=sentence_of(question),
            reply=answer.reply,
            answer=extracted.text,
            expected=expected,
            outcome=graded.outcome,
            correct=graded.correct,
            why=graded.why,
        )
        return _Asked(record, answer)


def _most_serious(errors: BaseExceptionGroup[InfrastructureError]) -> InfrastructureError:
    """Returns one error for a unit of many questions: that the model is unavailable goes first."""
    failures = [error for error in leaves(errors) if isinstance(error, InfrastructureError)]
    return next((error for error in failures if isinstance(error, ModelUnavailableError)), failures[0])
