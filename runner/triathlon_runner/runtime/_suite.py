"""Sets of questions asked in one style. A unit is one (program, input), all of whose questions are asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, ModelKind, Sampling
from triathlon_runner.records import (
    AnswerRecord,
    Outcome,
    PredictionRecord,
    RuntimeRecord,
    StatementRecord,
    Usage,
)
from triathlon_runner.runtime._construct import QUESTION_RULES, REVAL_RULES, TRUTH_RULES, QuestionSource
from triathlon_runner.runtime._grade import (
    Graded,
    answer_record,
    expected_answers,
    grade_coverage,
    grade_path,
    grade_state,
)
from triathlon_runner.runtime._outputs import (
    by_authors_rule,
    grade_output,
    grade_prediction,
    passes_by_authors,
)
from triathlon_runner.runtime._programs import FUNCTION, Side, masked_assertion
from triathlon_runner.runtime._questions import (
    ABOUT_LINES,
    KINDS,
    Asker,
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    QuestionKind,
    StatementQuestion,
    sampling,
)
from triathlon_runner.suites import (
    DataSetInfo,
    Task,
    UnitRun,
    asked_settings,
    digest_of,
    graded_settings,
    request_settings,
)

PREDICTION_TEMPERATURE: Final = 0.2
"""CRUXEval, section 3: for pass@1."""


@dataclass
class RuntimeSuite:
    """Questions about the behaviour of programs."""

    id: str
    asker: Asker
    source: QuestionSource
    temperature: float = 0.0
    authors_rule: bool = False
    """Whether outputs are also graded by the rule of REval's authors; by it alone where the truths are
    theirs, too."""

    def __post_init__(self) -> None:
        self._questions = self.source.ready()

    async def prepare(self, grader: Grader) -> None:
        """Builds the questions where no file holds them."""
        if self._questions is None:
            self._questions = await self.source.build(grader.sandbox)

    @property
    def data(self) -> DataSetInfo:
        """The data set that the questions are built from."""
        return self.source.data

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

    @property
    def _sampling(self) -> Sampling:
        return sampling(self.asker.style, self.temperature)

    def tasks(self) -> Sequence[Task]:
        return [
            Task(task_id, program.level, program.task_id) for task_id, (program, _) in self._units.items()
        ]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """Rules stand for questions that are built, since some cannot be where a library is missing."""
        file, style = self.source.file, self.asker.style
        questions = digest_of(file.asked) if file else QUESTION_RULES
        graded = graded_settings(self.data, truths=digest_of(file.truths) if file else TRUTH_RULES)
        if self.source.truths == "reval":
            graded = graded_settings(self.data, "authors", truths=f"REval's tracer, {REVAL_RULES}")
        prompts = self.asker.digest(*KINDS)
        return {
            "asked": asked_settings(self.data, self._sampling, prompts, questions=questions, style=style),
            "graded": graded,
        }

    def libraries(self) -> frozenset[str]:
        """What its programs import that Python does not have; known before `prepare`."""
        return frozenset(library for program in self.source.programs() for library in program.libraries)

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
        """Asks and grades all questions about one input, all at once."""
        program, asked = self._units[unit.task_id]
        ask = partial(self._ask, unit, program, asked)
        about_lines = [ask(kind, one) for one, kind in product(asked.statements, ABOUT_LINES)]
        replies = await run_all([ask("output"), *about_lines])
        output, *records = (record for record, _ in replies)
        answers = [answer for _, answer in replies]
        by_authors = None
        if self.authors_rule:
            by_authors = await passes_by_authors(unit.grader.sandbox, program, asked, output.answer or "")
            if self.source.truths == "reval":
                output = by_authors_rule(output, right=by_authors)
        all_right = all(record.correct for record in (output, *records))
        return RuntimeRecord(
            **unit.record_fields(self.id),
            outcome=Outcome.PASSED if all_right else Outcome.FAILED,
            usage=sum((answer.usage for answer in answers), Usage()),
            seconds=max(answer.seconds for answer in answers),
            style=self.asker.style,
            program_id=program.task_id,
            program=program.program,
            setup=asked.setup,
            input=asked.text,
            statements=tuple(
                StatementRecord(
                    line=one.line, variable=one.variable, coverage=coverage, state=state, path=path
                )
                for one, coverage, state, path in zip(
                    asked.statements, records[::3], records[1::3], records[2::3], strict=True
                )
            ),
            output=output,
            output_by_authors=by_authors,
            output_masks_call=bool(program.masked_test(asked).masked_calls),
        )

    async def _ask(
        self,
        unit: UnitRun,
        program: ProgramQuestions,
        asked: InputQuestions,
        kind: QuestionKind,
        statement: StatementQuestion | None = None,
    ) -> tuple[AnswerRecord, Answer]:
        async def grade(answer: str) -> Graded:
            if statement is None:
                return await grade_output(unit.grader.sandbox, program, asked, answer)
            if kind == "path":
                return grade_path(program.program, statement, answer)
            return (grade_state if kind == "state" else grade_coverage)(statement, answer)

        question = self.asker.question(kind, program, asked, statement)
        expected = expected_answers(kind, program, asked, statement)
        prompt = self.asker.prompt(kind, question, completes=unit.model.kind == "base")
        answer = await unit.model.ask(prompt, self._sampling, sample=unit.sample)
        style = self.asker.style
        return await answer_record(answer.reply, style, grade, question=question, expected=expected), answer


@dataclass(frozen=True)
class PredictionSuite:
    """CRUXEval's programs with the side of their assertions that is asked for. A unit is one program."""

    id: str
    data: DataSetInfo
    programs: Mapping[str, CruxevalTask]
    side: Side
    asker: Asker

    @property
    def _sampling(self) -> Sampling:
        return sampling(self.asker.style, PREDICTION_TEMPERATURE)

    def tasks(self) -> Sequence[Task]:
        return [Task(task_id) for task_id in self.programs]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """The masked side is part of what it asks."""
        style, prompts = self.asker.style, self.asker.digest(f"predict-{self.side}")
        return {
            "asked": asked_settings(self.data, self._sampling, prompts, style=style, predicted=self.side),
            "graded": graded_settings(self.data),
        }

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return request_settings(kind, self._sampling)

    async def run(self, unit: UnitRun) -> PredictionRecord:
        """Asks for one prediction and grades it."""
        task, kind, style = self.programs[unit.task_id], f"predict-{self.side}", self.asker.style
        masked = masked_assertion(task, self.side)
        question = self.asker.prompts.render(
            f"{kind}-question", program=task.program.strip("\n"), assertion=masked
        )
        grade = partial(grade_prediction, unit.grader.sandbox, task, self.side)
        expected = (f"assert {FUNCTION}({task.input}) == {task.output}",)
        prompt = self.asker.prompt(kind, question, completes=unit.model.kind == "base")
        answer = await unit.model.ask(prompt, self._sampling, sample=unit.sample)
        prediction = await answer_record(answer.reply, style, grade, question=question, expected=expected)
        return PredictionRecord(
            **unit.record_fields(self.id),
            outcome=prediction.outcome,
            usage=answer.usage,
            seconds=answer.seconds,
            asked=self.side,
            style=style,
            program=task.program,
            assertion=masked,
            prediction=prediction,
        )
