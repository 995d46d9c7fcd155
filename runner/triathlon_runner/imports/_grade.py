"""Grades one unit of a foreign log."""

import re
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.estimates import DryRunModel
from triathlon_runner.grading import Grader
from triathlon_runner.imports._foreign import (
    QUESTIONS,
    Foreign,
    ForeignAnswers,
    ForeignLoop,
    ForeignProgram,
    ForeignReply,
)
from triathlon_runner.imports._formats import WHOLE_PROGRAMS
from triathlon_runner.records import (
    AnswerRecord,
    EvolvedRecord,
    Finish,
    LoopRecord,
    LoopStep,
    Outcome,
    ProtocolHashes,
    Reply,
    RuntimeRecord,
    UnitRecord,
)
from triathlon_runner.schedule import Work
from triathlon_runner.suites import Programs
from triathlon_runner.verify import NotInEvidenceError, replayed


async def graded(
    foreign: Foreign, sample: int, work: Work, grader: Grader, protocol: ProtocolHashes
) -> UnitRecord:
    """Returns the record of a foreign unit, graded by us.

    Raises:
        NotInEvidenceError: grading needs a reply that the log does not have.
        SandboxError: our machinery failed.
    """
    if isinstance(foreign, ForeignProgram):
        return await _program(foreign, sample, work, grader, protocol)
    if isinstance(foreign, ForeignAnswers):
        ungraded: UnitRecord = await _answers(foreign, work, grader)
    elif isinstance(foreign, ForeignLoop):
        ungraded = _loop(foreign, work, protocol)
    else:
        ungraded = _ungraded(foreign, foreign.text, sample, work, protocol)
    return await replayed(ungraded, work, grader)


async def graded_again(record: UnitRecord, work: Work, grader: Grader) -> UnitRecord:
    """Returns an imported record, graded again from the replies in it.

    Raises:
        NotInEvidenceError: grading needs a reply that is not in the record.
        SandboxError: our machinery failed.
    """
    if isinstance(record, EvolvedRecord) and work.settings.get("imported") in WHOLE_PROGRAMS:
        foreign = ForeignProgram(record.task_id, record.reply.text, record.prompt)
        return await _program(foreign, record.sample, work, grader, work.protocol)
    return await replayed(record, work, grader)


async def _program(
    foreign: ForeignProgram, sample: int, work: Work, grader: Grader, protocol: ProtocolHashes
) -> EvolvedRecord:
    suite = work.built.suite
    if not isinstance(suite, Programs):
        raise UserError(f"the tasks of {work.suite_id!r} are no functions to write")
    problem = next(problem for problem in suite.functions() if problem.task_id == foreign.task_id)
    program = foreign.program
    if program and foreign.completes:
        program = problem.prompt + program
    record = _ungraded(foreign, program, sample, work, protocol)
    changes: dict[str, Any] = {"program": program, "parents": problem.parents}
    if program.strip():
        verdict = await grader.grade(program, problem, inputs=suite.inputs)
        changes |= {"verdict": verdict, "outcome": verdict.outcome}
    return record.model_copy(update=changes)


def _ungraded(
    foreign: ForeignProgram | ForeignReply, text: str, sample: int, work: Work, protocol: ProtocolHashes
) -> EvolvedRecord:
    """Returns a record of a model's reply that is not graded yet."""
    is_cut = isinstance(foreign, ForeignReply) and foreign.cut
    return EvolvedRecord(
        suite=work.suite_id,
        model=work.row.id,
        task_id=foreign.task_id,
        sample=sample,
        protocol=protocol,
        outcome=Outcome.NO_ANSWER,
        prompt=foreign.prompt,
        reply=Reply(text=text, finish=Finish.LENGTH if is_cut else Finish.STOP),
        program="",
        verdict=None,
    )


def _loop(foreign: ForeignLoop, work: Work, protocol: ProtocolHashes) -> LoopRecord:
    steps = [
        LoopStep(
            loop=number,
            prompt="",
            reply=Reply(text=program if foreign.replies else _fenced(program)),
            program=program,
            outcome=Outcome.PASSED,
            verdict=None,
            summary_reply=Reply(text=sentence),
        )
        for number, (program, sentence) in enumerate(
            zip(foreign.programs, foreign.sentences, strict=True), start=1
        )
    ]
    return LoopRecord(
        suite=work.suite_id,
        model=work.row.id,
        task_id=foreign.task_id,
        protocol=protocol,
        outcome=Outcome.PASSED,
        max_loops=len(steps),
        sustained_loops=len(steps),
        loops=tuple(steps),
    )


def _fenced(program: str) -> str:
    """Returns a reply with the program in a fence that is longer than any fence in the program."""
    fence = "`" * (max([2, *map(len, re.findall("`{3,}", program))]) + 1)
    return f"{fence}python\n{program}\n{fence}"


async def _answers(foreign: ForeignAnswers, work: Work, grader: Grader) -> RuntimeRecord:
    """Returns the record of our questions about a unit, with the log's replies in the same order."""
    model = DryRunModel(work.row.id, work.row.kind)
    questions = await work.built.suite.run(foreign.task_id, 0, model, grader, work.protocol)
    assert isinstance(questions, RuntimeRecord)
    *kinds, _ = QUESTIONS
    counts = {kind: len(foreign.replies[kind]) for kind in kinds}
    if set(counts.values()) != {len(questions.statements)}:
        raise NotInEvidenceError(
            f"we ask about {len(questions.statements)} statements, the log has {counts['coverage']} coverage,"
            f" {counts['state']} state and {counts['path']} path answers"
        )
    statements = tuple(
        statement.model_copy(
            update={kind: _with_reply(getattr(statement, kind), foreign.replies[kind][n]) for kind in kinds}
        )
        for n, statement in enumerate(questions.statements)
    )
    output = _with_reply(questions.output, foreign.replies["output"][0])
    return questions.model_copy(update={"statements": statements, "output": output})


def _with_reply(answer: AnswerRecord, text: str) -> AnswerRecord:
    return answer.model_copy(update={"reply": Reply(text=text)})
