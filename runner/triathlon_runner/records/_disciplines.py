"""Records of each discipline: loop, evolved, runtime with REval's questions and CRUXEval's predictions."""

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Annotated, ClassVar, Final, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from triathlon_runner.records._base import Count, Outcome, Question, Reply, Strict, UnitRecord, Usage, Verdict

_QUESTION: Final = re.compile(r"\[QUESTION\](.*?)\[/QUESTION\]", re.DOTALL)

UNTAGGED: Final = "Complete the assertions of the test."
"""What is asked where a prompt has no question in tags: REval's prompts about the output have none."""


def _at_most_all(sustained: int, fields: ValidationInfo) -> int:
    most = fields.data.get("max_loops", sustained)
    if sustained > most:
        raise ValueError(f"expected 0 to {most}")
    return sustained


Number = Annotated[int, Field(ge=1, le=2**53)]
"""Counted from 1."""


def _fault_of_verdict(field: str, outcome: Outcome, verdict: Verdict | None) -> str:
    """Returns how an outcome contradicts its verdict, or the verdict itself; empty where they agree."""
    if verdict is None:
        return f"{field}: 'passed' without a verdict" if outcome is Outcome.PASSED else ""
    if verdict.outcome is not outcome:
        return f"{field}: {outcome.value!r}, but its verdict says {verdict.outcome.value!r}"
    passed_all = verdict.failing is None and verdict.passed == verdict.total
    if outcome is Outcome.PASSED and not passed_all:
        return f"{field}: 'passed', but its verdict counts {verdict.passed} of {verdict.total} tests"
    return ""


class LoopStep(Strict):
    """One turn: the prompt, the program written for it, its verdict and, where it passed, the summary."""

    loop: Number
    prompt: str
    """p^j: the problem text of this loop, without the instruction around it; the program to be translated in
    a translation loop."""
    language: str | None = None
    """What a translation loop translated into; None elsewhere, where it is Python."""
    reply: Reply
    program: str
    """What was taken out of the reply; empty where nothing could be."""
    changes: tuple[str, ...] = ()
    """What extraction changed on the way from reply to program, in words."""
    outcome: Outcome
    verdict: Verdict | None
    """None where there was no program to execute."""
    summary_reply: Reply | None = None
    summary: str | None = None
    """The sentence that becomes the next prompt; None where none was asked for or the reply holds none."""
    summary_is_program: bool = False
    """Whether the summary parses as a definition with a body: the program itself instead of a description."""


class LoopRecord(UnitRecord):
    """One task of a loop suite.

    `outcome` is `passed` where loop M passed, else that of the failing loop. Where a summary could not be
    had, there is no next prompt: the loops so far are sustained, and the outcome is the summary's.
    """

    conversation: ClassVar[bool] = True
    has_steps: ClassVar[bool] = True
    """Whether a line holds its loops, which the number of those sustained follows from."""
    max_loops: Number
    """M."""
    sustained_loops: Annotated[Count, AfterValidator(_at_most_all)]
    """l, 0 to M."""
    loops: tuple[LoopStep, ...]
    similarity: Annotated[float, Field(ge=0, le=1)] | None = None
    """s^l = Sim(p^l, p^(l+1)) for a task that stopped at 1 <= l < M; None where unknown."""
    judge_replies: tuple[Reply, ...] = ()
    judge_usage: Usage = Usage()
    """What the judge took; it is another model, so `usage` leaves it out."""

    def questions(self) -> Iterator[Question]:
        """Returns of each loop the prompt with the program, then the summary, which nothing stands before."""
        for step in self.loops:
            yield Question(step.prompt, step.reply, step.program)
            if step.summary_reply is not None:
                yield Question("", step.summary_reply)

    def fault(self) -> str:
        """Returns how outcomes, verdicts and the number of loops contradict each other."""
        for step in self.loops:
            if fault := _fault_of_verdict(f"loops[{step.loop - 1}].outcome", step.outcome, step.verdict):
                return fault
        passed = len(list(takewhile(lambda step: step.outcome is Outcome.PASSED, self.loops)))
        if self.has_steps and self.sustained_loops != passed:
            return f"sustained_loops: {self.sustained_loops}, but {passed} of its loops passed in a row"
        last = self.loops[-1].outcome if self.loops else Outcome.PASSED
        passed_all = self.sustained_loops == self.max_loops
        if passed_all != (self.outcome is Outcome.PASSED) or last not in (Outcome.PASSED, self.outcome):
            loops = f"{self.sustained_loops} of {self.max_loops} loops passed, the last: {last.value!r}"
            return f"outcome: {self.outcome.value!r}, but {loops}"
        return ""

    @property
    def loops_from_programs(self) -> int:
        """Sustained loops whose prompt was a program instead of a description of one."""
        passed = [step.outcome is Outcome.PASSED for step in self.loops[1:]]
        return sum(
            step.summary_is_program and sustained for step, sustained in zip(self.loops, passed, strict=False)
        )


class ProgramRecord(UnitRecord):
    """One program for one question, one sample."""

    prompt: str
    """The question as it was asked, instruction included."""
    reply: Reply
    program: str
    """What was executed; empty where nothing could be taken out of the reply."""
    changes: tuple[str, ...] = ()
    """What extraction changed on the way from reply to program, in words."""
    verdict: Verdict | None
    """None where there was no program to execute."""

    def questions(self) -> Iterator[Question]:
        """Returns the one question."""
        yield Question(self.prompt, self.reply, self.program)

    def fault(self) -> str:
        """Returns how the outcome contradicts the verdict."""
        return _fault_of_verdict("outcome", self.outcome, self.verdict)


class EvolvedRecord(ProgramRecord):
    """One problem of an evolved suite, one sample."""

    parents: tuple[str, ...] = ()
    """task_ids of the problems that this one was evolved from, so that families show in the results."""


class AnswerRecord(Strict):
    """One question's answer, graded."""

    question: str = ""
    """What was asked, in a sentence or two; the program and the input stand in the unit."""
    reply: Reply
    answer: str | None
    """What was taken out of the reply; None where nothing could be."""
    expected: tuple[str, ...]
    """Every answer that would be right, as text."""
    outcome: Outcome
    correct: bool
    why: str = ""
    """What was wrong, in words; empty where the answer is right."""

    def fault(self, field: str) -> str:
        """Returns how the outcome of the answer in this field contradicts whether it is right."""
        if self.correct != (self.outcome is Outcome.PASSED):
            return f"{field}.outcome: {self.outcome.value!r}, but `correct` says {self.correct}"
        return ""


class StatementRecord(Strict):
    """The three questions about one (line, variable)."""

    line: Number
    """1-based line of the program."""
    variable: str
    coverage: AnswerRecord
    state: AnswerRecord
    path: AnswerRecord


class RuntimeRecord(UnitRecord):
    """One (program, input). `outcome` is `passed` where every answer is right, else `failed`."""

    style: Literal["direct", "cot"]
    program_id: str
    program: str
    """The program text whose lines the questions name."""
    setup: str = ""
    """What a test's set-up did before the input; its execution is not asked about."""
    input: str
    """The call or test that is made, as text."""
    statements: tuple[StatementRecord, ...]
    output: AnswerRecord
    output_by_authors: bool | None = None
    """Whether the output is right by the rule of REval's authors; None where that was not asked."""
    output_masks_call: bool = False
    """Whether the output question masks a call instead of a value, as 44 of DREval do."""

    def questions(self) -> Iterator[Question]:
        """Returns every question behind the program and the input; all of a unit's are asked at once."""
        for _, name, answer in self._answers():
            text = f"{self.program}\n\n{self.input}\n\n{answer.question}"
            extracted, expected = answer.answer or "", answer.expected
            yield Question(text, answer.reply, extracted, expected, answer.question, name, answer.outcome)

    def fault(self) -> str:
        """Returns how the outcomes of the unit and of its answers contradict what is right."""
        answers = self.answers()
        if any(answer.fault("") for answer in answers):  # names are made where one is needed
            return next(fault for field, _, answer in self._answers() if (fault := answer.fault(field)))
        all_right = all(answer.correct for answer in answers)
        if all_right != (self.outcome is Outcome.PASSED):
            verdict = "every answer is" if all_right else "not every answer is"
            return f"outcome: {self.outcome.value!r}, but {verdict} right"
        return ""

    def replies(self) -> Iterator[Reply]:
        """Returns the replies to all questions."""
        return (answer.reply for answer in self.answers())

    def answers(self) -> list[AnswerRecord]:
        """Returns the answers about the lines, in their order, and that about the output."""
        return [
            *(each for one in self.statements for each in (one.coverage, one.state, one.path)),
            self.output,
        ]

    def _answers(self) -> Iterator[tuple[str, str, AnswerRecord]]:
        """Yields each answer with its field and with the name of its question."""
        for position, statement in enumerate(self.statements):
            place = f"line-{statement.line}-{statement.variable}"
            for kind in ("coverage", "state", "path"):
                yield f"statements[{position}].{kind}", f"{kind}-{place}", getattr(statement, kind)
        yield "output", "output", self.output

    @staticmethod
    def question_in(prompt: str) -> str:
        """Returns the text in the last question tags; those before it belong to demonstrations."""
        questions = _QUESTION.findall(prompt)
        return str(questions[-1]).strip() if questions else UNTAGGED


class PredictionRecord(UnitRecord):
    """One program and one assertion about it that the model completed. `outcome` is that of the answer."""

    asked: Literal["output", "input"]
    """Which side of the assertion was masked."""
    style: Literal["direct", "cot"]
    program: str
    assertion: str
    """As it was shown, with `??` in place of what was asked for."""
    prediction: AnswerRecord

    def questions(self) -> Iterator[Question]:
        """Returns the assertion behind the program."""
        text, answer = f"{self.program}\n\n{self.assertion}", self.prediction
        yield Question(text, answer.reply, answer.answer or "", answer.expected)

    def fault(self) -> str:
        """Returns how the outcomes of the unit and of its answer contradict what is right."""
        if fault := self.prediction.fault("prediction"):
            return fault
        if self.prediction.outcome is not self.outcome:
            return f"outcome: {self.outcome.value!r}, but its answer's is {self.prediction.outcome.value!r}"
        return ""
