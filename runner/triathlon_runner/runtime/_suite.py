"""A set of questions asked in one style. A unit is one (program, input), all of whose questions are asked."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any, Final, NamedTuple

from triathlon_runner.errors import InfrastructureError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, ModelKind, ModelUnavailableError
from triathlon_runner.records import (
    AnswerRecord,
    Outcome,
    RuntimeRecord,
    StatementRecord,
    Usage,
)
from triathlon_runner.runtime._asking import KINDS, Asker, QuestionKind, sampling
from triathlon_runner.runtime._construct import QUESTION_RULES, TRUTH_RULES, QuestionSource
from triathlon_runner.runtime._grade import (
    Graded,
    answer_record,
    expected_answers,
    grade_coverage,
    grade_path,
)
from triathlon_runner.runtime._outputs import by_authors_rule, grade_output, masked_test, passes_by_authors
from triathlon_runner.runtime._questions import (
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
)
from triathlon_runner.runtime._states import grade_state
from triathlon_runner.runtime._trace import REVAL_RULES
from triathlon_runner.suites import (
    Task,
    UnitRun,
    asked_settings,
    digest_of,
    graded_settings,
    request_settings,
)


class RuntimeSuite:
    """Questions about the behaviour of programs."""

    def __init__(
        self,
        suite_id: str,
        asker: Asker,
        source: QuestionSource,
        temperature: float = 0.0,
        *,
        authors_rule: bool = False,
    ) -> None:
        """`authors_rule`: outputs are also graded by the rule of REval's authors; by it alone where the
        truths are theirs, too.
        """
        self.id: Final = suite_id
        self.data: Final = source.data
        self._asker = asker
        self._source = source
        self._authors_rule = authors_rule
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
            RuntimeError: `prepare` was not called.
        """
        if self._questions is None:
            raise RuntimeError(f"{self.id}: prepare() builds the questions, and was not called")
        return self._questions

    @cached_property
    def _units(self) -> Mapping[str, tuple[ProgramQuestions, InputQuestions]]:
        return {
            f"{program.task_id}#{asked.index}": (program, asked)
            for program in self.questions.programs
            for asked in program.inputs
        }

    def tasks(self) -> Sequence[Task]:
        return [
            Task(task_id, program.level, program.task_id) for task_id, (program, _) in self._units.items()
        ]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """Rules stand for questions that are built, since some cannot be where a library is missing."""
        file = self._source.file
        questions = digest_of(file.asked) if file else QUESTION_RULES
        truths = digest_of(file.truths) if file else TRUTH_RULES
        style, prompts = self._asker.style, self._asker.digest(*KINDS)
        graded = graded_settings(self.data, truths=truths)
        if self._source.truths == "reval":
            graded = graded_settings(self.data, "authors", truths=f"REval's tracer, {REVAL_RULES}")
        return {
            "asked": asked_settings(self.data, self._sampling, prompts, questions=questions, style=style),
            "graded": graded,
        }

    def libraries(self) -> frozenset[str]:
        """What its programs import that Python does not have; known before `prepare`."""
        return frozenset(library for program in self._source.programs() for library in program.libraries)

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        """Returns how a model of this kind is asked, and which questions could be built here."""
        report = self.questions.report
        return {
            **request_settings(kind, self._sampling),
            "questions": {
                "count": report.questions,
                "python": self.questions.python,
                "left_out_programs": report.left_out_programs,
            },
        }

    async def run(self, unit: UnitRun) -> RuntimeRecord:
        """Asks and grades all questions about one input, all at once.

        Raises:
            InfrastructureError: no reply to one of them, or the sandbox failed; the unit stays open.
        """
        program, asked = self._units[unit.task_id]
        kinds: tuple[QuestionKind, ...] = ("coverage", "state", "path")
        ask = partial(self._ask, unit, program, asked)
        try:
            async with asyncio.TaskGroup() as group:
                output_task = group.create_task(ask("output"))
                tasks = [
                    [group.create_task(ask(kind, statement)) for kind in kinds]
                    for statement in asked.statements
                ]
        except* InfrastructureError as errors:
            raise _most_serious(errors) from errors
        statements = [[task.result() for task in of_statement] for of_statement in tasks]
        output, by_authors = output_task.result(), None
        answered = [*chain.from_iterable(statements), output]
        if self._authors_rule:
            text = output.record.answer or ""
            by_authors = await passes_by_authors(unit.grader.sandbox, program, asked, text)
            if self._source.truths == "reval":
                output = output._replace(record=by_authors_rule(output.record, right=by_authors))
                answered[-1] = output
        return RuntimeRecord(
            **unit.record_fields(self.id),
            outcome=Outcome.PASSED if all(one.record.correct for one in answered) else Outcome.FAILED,
            usage=sum((one.answer.usage for one in answered), Usage()),
            seconds=max(one.answer.seconds for one in answered),
            style=self._asker.style,
            program_id=program.task_id,
            program=program.program,
            setup=asked.setup,
            input=asked.text,
            statements=tuple(
                StatementRecord(
                    line=statement.line,
                    variable=statement.variable,
                    coverage=coverage.record,
                    state=state.record,
                    path=path.record,
                )
                for statement, (coverage, state, path) in zip(asked.statements, statements, strict=True)
            ),
            output=output.record,
            output_by_authors=by_authors,
            output_masks_call=output.masks_call,
        )

    async def _ask(
        self,
        unit: UnitRun,
        program: ProgramQuestions,
        asked: InputQuestions,
        kind: QuestionKind,
        statement: StatementQuestion | None = None,
    ) -> "_Answered":
        question = self._asker.question(kind, program, asked, statement)
        prompt = self._asker.prompt(kind, question, completes=unit.model.kind == "base")
        answer = await unit.model.ask(prompt, self._sampling, sample=unit.sample)

        async def grade(answer: str) -> Graded:
            if statement is None:
                return await grade_output(unit.grader.sandbox, program, asked, answer)
            if kind == "path":
                return grade_path(program.program, statement, answer)
            return (grade_state if kind == "state" else grade_coverage)(statement, answer)

        record = await answer_record(
            answer.reply,
            self._asker.style,
            grade,
            question=question,
            expected=expected_answers(kind, program, asked, statement),
        )
        is_output = statement is None
        return _Answered(record, answer, is_output and bool(masked_test(program, asked).masked_calls))


class _Answered(NamedTuple):
    """The graded answer to one question, and what it took."""

    record: AnswerRecord
    answer: Answer
    masks_call: bool = False
    """Whether it is an output question that masks a call instead of a value."""


def _most_serious(errors: BaseExceptionGroup[InfrastructureError]) -> InfrastructureError:
    """Returns one error for a unit of many questions: that the model is unavailable goes first."""
    failures = [error for error in leaves(errors) if isinstance(error, InfrastructureError)]
    return next((error for error in failures if isinstance(error, ModelUnavailableError)), failures[0])
