"""A set of questions asked in one style. A unit is one (program, input), all of whose questions are asked."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

from triathlon_runner.errors import InfrastructureError, leaves
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, Model, ModelKind, ModelUnavailableError
from triathlon_runner.records import (
    AnswerRecord,
    Outcome,
    ProtocolHashes,
    RuntimeRecord,
    StatementRecord,
    Usage,
)
from triathlon_runner.runtime._asking import KINDS, AnyAsker, QuestionKind, sampling
from triathlon_runner.runtime._construct import QUESTION_RULES, TRUTH_RULES, QuestionSource
from triathlon_runner.runtime._grade import (
    answer_record,
    by_authors_rule,
    expected_answers,
    grade_answer,
    masked_test,
    passes_by_authors,
)
from triathlon_runner.runtime._questions import (
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
)
from triathlon_runner.runtime._reval_truths import REVAL_RULES
from triathlon_runner.suites import Task, asked_settings, digest_of, graded_settings, request_settings


class RuntimeSuite:
    """Questions about the behaviour of programs."""

    def __init__(
        self,
        suite_id: str,
        asker: AnyAsker,
        source: QuestionSource | QuestionFile,
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
        self._authors_truths = isinstance(source, QuestionSource) and source.truths == "reval"
        self._sampling = sampling(asker.style, temperature)
        self._questions = source.ready() if isinstance(source, QuestionSource) else source

    async def prepare(self, grader: Grader) -> None:
        """Builds the questions where no file holds them.

        Raises:
            SandboxError: the sandbox itself failed.
        """
        if self._questions is None and isinstance(self._source, QuestionSource):
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
        of_file = self._source if isinstance(self._source, QuestionFile) else None
        questions = digest_of(of_file.asked) if of_file else QUESTION_RULES
        truths = digest_of(of_file.truths) if of_file else TRUTH_RULES
        style, prompts = self._asker.style, self._asker.digest(*KINDS)
        graded = graded_settings(self.data, truths=truths)
        if self._authors_truths:
            graded = graded_settings(self.data, "authors", truths=f"REval's tracer, {REVAL_RULES}")
        return {
            "asked": asked_settings(self.data, self._sampling, prompts, questions=questions, style=style),
            "graded": graded,
        }

    def libraries(self) -> frozenset[str]:
        """What its programs import that Python does not have; known before `prepare`."""
        source = self._source
        programs = source.programs() if isinstance(source, QuestionSource) else source.programs
        return frozenset(library for program in programs for library in program.libraries)

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

    async def run(
        self,
        task_id: str,
        sample: int,
        model: Model,
        grader: Grader,
        protocol: ProtocolHashes,
        _judge: Model | None = None,
    ) -> RuntimeRecord:
        """Asks and grades all questions about one input, all at once.

        Raises:
            InfrastructureError: no reply to one of them, or the sandbox failed; the unit stays open.
        """
        program, asked = self._units[task_id]
        ask = partial(self._ask, program, asked, model, sample, grader)
        kinds: tuple[QuestionKind, ...] = ("coverage", "state", "path")
        try:
            async with asyncio.TaskGroup() as group:
                output = group.create_task(self._ask_output(program, asked, model, sample, grader))
                statements = [
                    {kind: group.create_task(ask(kind, statement)) for kind in kinds}
                    for statement in asked.statements
                ]
        except* InfrastructureError as errors:
            raise _most_serious(errors) from errors
        answered = [task.result() for tasks in statements for task in tasks.values()]
        output_record, output_answer, by_authors, masks_call = output.result()
        answered.append((output_record, output_answer))
        return RuntimeRecord(
            suite=self.id,
            model=model.id,
            task_id=task_id,
            sample=sample,
            protocol=protocol,
            outcome=Outcome.PASSED if all(record.correct for record, _ in answered) else Outcome.FAILED,
            usage=sum((answer.usage for _, answer in answered), Usage()),
            seconds=max(answer.seconds for _, answer in answered),
            style=self._asker.style,
            program_id=program.task_id,
            program=program.program,
            setup=asked.setup,
            input=asked.text,
            statements=tuple(
                StatementRecord(
                    line=statement.line,
                    variable=statement.variable,
                    coverage=tasks["coverage"].result()[0],
                    state=tasks["state"].result()[0],
                    path=tasks["path"].result()[0],
                )
                for statement, tasks in zip(asked.statements, statements, strict=True)
            ),
            output=output_record,
            output_by_authors=by_authors,
            output_masks_call=masks_call,
        )

    async def _ask_output(
        self,
        program: ProgramQuestions,
        asked: InputQuestions,
        model: Model,
        sample: int,
        grader: Grader,
        kind: QuestionKind = "output",
    ) -> tuple[AnswerRecord, Answer, bool | None, bool]:
        """The graded answer to the output question, what it took, the authors' verdict (None: not asked for),
        and whether the question masks a call.
        """
        record, answer = await self._ask(program, asked, model, sample, grader, kind, None)
        by_authors = None
        if self._authors_rule:
            by_authors = await passes_by_authors(grader.sandbox, program, asked, record.answer or "")
            if self._authors_truths:
                record = by_authors_rule(record, right=by_authors)
        return record, answer, by_authors, bool(masked_test(program, asked).masked_calls)

    async def _ask(
        self,
        program: ProgramQuestions,
        asked: InputQuestions,
        model: Model,
        sample: int,
        grader: Grader,
        kind: QuestionKind,
        statement: StatementQuestion | None,
    ) -> tuple[AnswerRecord, Answer]:
        """The graded answer to one question, and what it took."""
        question = self._asker.question(kind, program, asked, statement)
        prompt = self._asker.prompt(kind, question, completes=model.kind == "base")
        answer = await model.ask(prompt, self._sampling, sample=sample)
        record = await answer_record(
            answer.reply,
            self._asker.style,
            partial(grade_answer, grader.sandbox, kind, program, asked, statement),
            question=question,
            expected=expected_answers(kind, program, asked, statement),
        )
        return record, answer


def _most_serious(errors: BaseExceptionGroup[InfrastructureError]) -> InfrastructureError:
    """Returns one error for a unit of many questions: that the model is unavailable goes first."""
    failures = [error for error in leaves(errors) if isinstance(error, InfrastructureError)]
    return next((error for error in failures if isinstance(error, ModelUnavailableError)), failures[0])
