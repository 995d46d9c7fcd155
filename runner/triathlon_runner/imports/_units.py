"""The units of other programs' logs, as every reader yields them, and grading one of them.

Each program is graded once, and the log's own verdict is compared with ours.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeGuard

from triathlon_runner import records
from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.errors import UserError
from triathlon_runner.estimates import DryRunModel
from triathlon_runner.grading import NO_VERDICT, Comparison, Grader, TheirVerdict, base_outcome
from triathlon_runner.schedule import Work
from triathlon_runner.suites import Programs, UnitRun
from triathlon_runner.terminal import counted
from triathlon_runner.verify import NotInEvidenceError, replayed


@dataclass(frozen=True, slots=True)
class ForeignSample:
    """One answer to one task: a reply, or a program that is graded as it is."""

    task_id: str
    """As the log has it: an id, a folder, a number or a position."""
    text: str
    """A reply, from which the program or answer is extracted as in a run."""
    prompt: str = ""
    is_program: bool = False
    """Whether the text is the program."""
    completes: bool = False
    """Whether the program continues the problem's prompt, and is executed behind it."""
    about: str = ""
    """What the log has of the task, such as its row of the data set; empty where that is the prompt."""
    subset: str = ""
    """The data set that the row names, where a log holds several."""
    theirs: TheirVerdict = NO_VERDICT
    error: str = ""
    """Why the log has no reply; empty where it has one."""
    cut: bool = False
    """Whether a limit of tokens ended it."""


@dataclass(frozen=True, slots=True)
class ForeignLoop:
    """One task's loops: programs and the sentences behind them."""

    task_id: str
    programs: tuple[str, ...]
    sentences: tuple[str, ...]
    """One for each program; empty for the last where the loop ended with it."""
    sustained_loops: int | None = None
    """By the log; None where it does not say."""
    replies: bool = False
    """Whether `programs` and `sentences` are whole replies, from which both are still to be extracted."""


@dataclass(frozen=True, slots=True)
class ForeignAnswers:
    """The replies to all questions about one (program, input)."""

    task_id: str
    replies: Mapping[str, Sequence[str]]
    """By the name of the question, such as `path-line-3-x`; or by its kind alone, then in our order."""


Foreign = ForeignSample | ForeignLoop | ForeignAnswers
WHOLE_PROGRAMS = frozenset({"evalplus", "evoeval", "human-eval", "bigcode", "lm-eval"})
"""Formats whose samples are programs to be graded as they are, not replies."""
QUESTIONS: Final = ("coverage", "state", "path", "output")
"""REval's four kinds of question."""


def ended_in_error(task_id: str, error: Any) -> ForeignSample:
    """Returns a sample without a reply, with the first line of the error that ended it."""
    message = str(error.get("message") if isinstance(error, dict) else error)
    first_line = message.partition("\n")[0]
    return ForeignSample(task_id, "", error=f"it ended in an error: {first_line:.200}")


def task_name(value: Any) -> str | None:
    """Returns a task's id or number as a text; None for no id."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else None


def part(value: Any, where: str, *keys: str | int, kind: Any = str) -> Any:
    """Returns a part of a log's JSON value, of this type; a UserError says what stands there instead."""
    found, is_there = value, True
    try:
        for key in keys:
            found = found[key]
    except (LookupError, TypeError):
        is_there = False
    if not is_there or not isinstance(found, kind) or isinstance(found, bool):
        place, name = ".".join(map(str, keys)), getattr(kind, "__name__", str(kind))
        is_missing = not is_there and isinstance(found, dict)
        got = f"an object with {sorted(found)[:8]}" if is_missing else f"{found!r:.80}"
        raise UserError(f"{where}: expected {place} ({name}), got {got}; is this the right format?")
    return found


def are_texts(value: Any) -> TypeGuard[list[str]]:
    """Returns whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


async def graded(unit: Foreign, sample: int, work: Work, grader: Grader) -> records.UnitRecord:
    """Returns the record of a foreign unit, graded by us; raises as `replayed`."""
    if isinstance(unit, ForeignAnswers):
        return await replayed(await _answers(unit, work, grader), work, grader)
    if isinstance(unit, ForeignSample) and unit.is_program:
        return await _program(unit, sample, work, grader)
    return await replayed(ungraded(unit, sample, work), work, grader)


async def graded_again(record: records.UnitRecord, work: Work, grader: Grader) -> records.UnitRecord:
    """Returns an imported record, graded again from the replies in it; raises as `replayed`."""
    if isinstance(record, records.EvolvedRecord) and work.settings.get("imported") in WHOLE_PROGRAMS:
        unit = ForeignSample(record.task_id, record.reply.text, record.prompt, is_program=True)
        return await _program(unit, record.sample, work, grader)
    return await replayed(record, work, grader)


async def _program(unit: ForeignSample, sample: int, work: Work, grader: Grader) -> records.UnitRecord:
    suite = work.built.suite
    if not isinstance(suite, Programs):
        raise UserError(f"the tasks of {work.suite_id!r} are no functions to write")
    problem = _problem(suite, unit.task_id)
    program = problem.prompt + unit.text if unit.text and unit.completes else unit.text
    changes: dict[str, Any] = {
        "program": program,
        "parents": problem.parents,
        "reply": records.Reply(text=program),
    }
    if program.strip():
        verdict = await grader.grade(program, problem, inputs=suite.inputs)
        changes |= {"verdict": verdict, "outcome": verdict.outcome}
    return ungraded(unit, sample, work).model_copy(update=changes)


def _problem(suite: Programs, task_id: str) -> FunctionProblem:
    return next(problem for problem in suite.functions() if problem.task_id == task_id)


def ungraded(
    unit: ForeignSample | ForeignLoop, sample: int, work: Work
) -> records.EvolvedRecord | records.LoopRecord:
    """Returns a record of a unit's replies that are not graded yet."""
    common: dict[str, Any] = {"suite": work.suite_id, "model": work.row.id, "protocol": work.protocol}
    common |= {"task_id": unit.task_id, "sample": sample}
    if isinstance(unit, ForeignSample):
        common |= {
            "outcome": records.Outcome.NO_ANSWER,
            "prompt": unit.prompt,
            "program": "",
            "verdict": None,
        }
        return records.EvolvedRecord(
            **common,
            reply=records.Reply(
                text=unit.text, finish=records.Finish.LENGTH if unit.cut else records.Finish.STOP
            ),
        )
    steps = tuple(
        records.LoopStep(
            loop=number,
            prompt="",
            reply=records.Reply(text=program if unit.replies else _fenced(program)),
            program=program,
            outcome=records.Outcome.PASSED,
            verdict=None,
            summary_reply=records.Reply(text=sentence),
        )
        for number, (program, sentence) in enumerate(zip(unit.programs, unit.sentences, strict=True), start=1)
    )
    common |= {"max_loops": len(steps), "sustained_loops": len(steps)}
    return records.LoopRecord(**common, outcome=records.Outcome.PASSED, loops=steps)


def _fenced(program: str) -> str:
    """Returns the program in a fence that is longer than any in it."""
    fence = "`" * (max([2, *map(len, re.findall("`{3,}", program))]) + 1)
    return f"{fence}python\n{program}\n{fence}"


async def _answers(unit: ForeignAnswers, work: Work, grader: Grader) -> records.RuntimeRecord:
    """Returns the record of our questions about a unit, with the log's replies in the same order."""
    model = DryRunModel(work.row.id, work.row.kind)
    record = await work.built.suite.run(UnitRun(unit.task_id, 0, model, grader, work.protocol))
    assert isinstance(record, records.RuntimeRecord)
    names = [question.name for question in record.questions()]
    if unit.replies.keys() <= set(QUESTIONS):
        names = [name.partition("-")[0] for name in names]
    asked, answered = Counter(names), Counter({name: len(texts) for name, texts in unit.replies.items()})
    if differing := [name for name in dict.fromkeys([*asked, *answered]) if asked[name] != answered[name]]:
        name = differing[0]
        raise NotInEvidenceError(
            f"we ask {counted(asked[name], 'question')} {name!r}, the log has"
            f" {counted(answered[name], 'answer')}"
        )
    texts = {name: iter(texts) for name, texts in unit.replies.items()}
    answers = (
        answer.model_copy(update={"reply": records.Reply(text=next(texts[name]))})
        for name, answer in zip(names, record.answers(), strict=True)
    )
    statements = tuple(
        statement.model_copy(update={kind: next(answers) for kind in ("coverage", "state", "path")})
        for statement in record.statements
    )
    return record.model_copy(update={"statements": statements, "output": next(answers)})


def compare(unit: Foreign, work: Work, record: records.UnitRecord) -> Comparison | None:
    """Returns the log's verdict on a unit and ours, on the same inputs; None where the log has none."""
    if isinstance(unit, ForeignLoop) and isinstance(record, records.LoopRecord):
        theirs, ours = unit.sustained_loops, record.sustained_loops
        if theirs is not None:
            return Comparison(counted(theirs, "loop"), counted(ours, "loop"), theirs == ours)
    if not isinstance(unit, ForeignSample):
        return None
    suite, outcome = work.built.suite, str(record.outcome)
    if not isinstance(suite, Programs):
        return unit.theirs.beside(outcome, outcome)
    on_base = outcome
    if isinstance(record, records.EvolvedRecord) and record.verdict is not None:
        on_base = base_outcome(record.verdict, _problem(suite, unit.task_id))
    return unit.theirs.beside(outcome, on_base, suite.inputs)
