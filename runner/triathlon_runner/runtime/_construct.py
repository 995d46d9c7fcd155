"""Builds questions: traces the references, chooses lines and variables, checks the assertions."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from triathlon_runner.concurrency import run_all
from triathlon_runner.errors import UserError
from triathlon_runner.memo import memo_key, python_version
from triathlon_runner.records import Strict
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._literals import read_literal
from triathlon_runner.runtime._masked import MASK, Masked
from triathlon_runner.runtime._outputs import check_assertions
from triathlon_runner.runtime._questions import (
    NO_VALUE,
    FilterReport,
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
    Value,
    read_questions,
    write_questions,
)
from triathlon_runner.runtime._sandboxed import run_calls
from triathlon_runner.sandbox import Call, Execution, Returned, Sandbox, SandboxError
from triathlon_runner.suites import DataSetInfo
from triathlon_runner.syntax import not_installed

QUESTION_RULES: Final = 1
"""Raise it whenever other questions are built from `core` or an official data set: part of the hash `asked`.
It stands for the questions, which are fewer where a library that a program needs is missing."""
TRUTH_RULES: Final = 1
"""Raise it whenever another truth is traced for a question of these: part of the hash `graded`."""
REVAL_RULES: Final = 1
"""Raise it whenever the model of REval's tracer gives another truth: part of the hash `graded`."""
_RULES: Final = f"{QUESTION_RULES}.{TRUTH_RULES}"
MAX_INPUTS: Final = 5
"""Inputs a program at most (REval's own limit), where the data set does not name its questions."""
MAX_VALUE: Final = 400
"""Characters of a value that is asked for: a direct answer has 256 tokens."""
MAX_INPUT: Final = 2_000
"""Characters of an input that is shown."""
_NEEDS: Final = "needs "
"""How the reason begins why a program is left out whose libraries are not installed."""

Truths = Literal["ours", "reval"]
"""By our tracer; by a model of that of REval's authors."""


@dataclass(frozen=True)
class QuestionSource:
    """A data set that questions are built from, and the place where they may lie ready."""

    data: DataSetInfo
    programs: Callable[[], Sequence[ProgramQuestions]]
    """Makes them, without truths. They take longer than what names them."""
    cache: Path | None = None
    """A folder for question files; None: build anew each time."""
    truths: Truths = "ours"
    file: QuestionFile | None = None
    """The questions, where a user has them as a file."""

    def ready(self) -> QuestionFile | None:
        """The questions of a file, or those built before from the same data by the same code."""
        if self.file is not None:
            return self.file
        path = self._cached_path()
        if path is None or not path.is_file():
            return None
        try:
            return read_questions(path)
        except UserError:
            return None  # torn or made by another version; they are built anew

    def _cached_path(self) -> Path | None:
        """Named by a hash of what the questions depend on: data, rules, the Python that traces, libraries."""
        if self.cache is None:
            return None
        key = memo_key("questions, 3", self.data, _RULES, self.truths)
        return self.cache / f"{key}.json"

    async def build(self, sandbox: Sandbox) -> QuestionFile:
        """Traces the references and stores the questions, where there is a folder for them.

        Raises:
            UserError: the folder can't be written to.
        """
        programs, report = await construct(self.programs(), sandbox)
        if self.truths == "reval":
            programs = tuple(await run_all(with_reval_truths(sandbox, program) for program in programs))
        questions = QuestionFile(
            dataset=self.data.name,
            version=self.data.version,
            sha256=self.data.sha256,
            made_by=_RULES,
            python=python_version(),
            report=report,
            programs=programs,
        )
        path = self._cached_path()
        if path is not None:
            write_questions(questions, path)
        return questions


def without_libraries(left_out_programs: Mapping[str, str]) -> dict[str, str]:
    """Returns the programs that were left out because a library is not installed, with the reason."""
    return {task: why for task, why in left_out_programs.items() if why.startswith(_NEEDS)}


class Run(Strict):
    """What the tracer found in one run of a program."""

    outcome: str
    """returned, raised, limit, untraceable, or lost: the program ended its process or changed the record."""
    error: str = ""
    result: Value | None = None
    statements: tuple[StatementQuestion, ...] = ()
    """Those that the data set names, or those that are chosen, without a variable where none suits."""


def read_run(plain: Any) -> Run:
    """The run in what the tracer returned; a lost one where the program has tampered with that."""
    try:
        return Run.model_validate(plain)
    except ValidationError as broken:
        return Run(
            outcome="lost", error=f"the tracer's answer is not a trace ({broken.error_count()} faults)"
        )


async def trace_runs(sandbox: Sandbox, program: ProgramQuestions, *, seed: int = 0) -> list[Run]:
    """Traces the inputs of a program in one child, each with a fresh program and seeded generators.

    An input that ends the child is lost; those after it are traced in another child.
    """
    named = [[(one.line, one.variable) for one in asked.statements] for asked in program.inputs]
    calls = [
        Call("questions", (program.program, program.run_of(asked), places, seed))
        for asked, places in zip(program.inputs, named, strict=True)
    ]
    libraries = frozenset(program.libraries)
    runs = []
    for result in await run_calls(sandbox, "tracer", calls, libraries, cpu_seconds=(10.0, 2.0)):
        if isinstance(result, Returned):
            runs.append(read_run(result.value))
        else:
            ended = isinstance(result, Execution) and (result.detail or result.ended.value)
            runs.append(Run(outcome="lost", error=ended or str(result)))
    return runs


async def construct(
    candidates: Sequence[ProgramQuestions], sandbox: Sandbox
) -> tuple[tuple[ProgramQuestions, ...], FilterReport]:
    """Builds the questions of a data set's programs.

    They come without truths (`_programs`): an input's statements are chosen where it has none.
    """
    statements, inputs = Counter[str](), Counter[str]()
    results = await run_all(_with_questions(one, sandbox, statements, inputs) for one in candidates)
    built = tuple(result for result in results if isinstance(result, ProgramQuestions))
    questions = sum(len(asked.statements) for program in built for asked in program.inputs)
    reasons = {one.task_id: why for one, why in zip(candidates, results, strict=True) if isinstance(why, str)}
    return built, FilterReport(
        programs=len(built),
        inputs=sum(len(program.inputs) for program in built),
        block_ends=questions + statements.total(),
        questions=questions,
        left_out_statements=dict(sorted(statements.items())),
        left_out_inputs=dict(sorted(inputs.items())),
        left_out_programs=dict(sorted(reasons.items())),
    )


async def _with_questions(
    program: ProgramQuestions, sandbox: Sandbox, statements: Counter[str], inputs: Counter[str]
) -> ProgramQuestions | str:
    """The program with its inputs that have questions, or why it has none.

    `statements` and `inputs` count how often a rule left one out.
    """
    if absent := not_installed(frozenset(program.libraries)):
        return f"{_NEEDS}{', '.join(absent)}, not installed here"
    # In two processes, random numbers seeded differently: what differs depends on chance or time.
    first, second = [await trace_runs(sandbox, program, seed=seed) for seed in (0, 1)]
    drafts: list[tuple[InputQuestions, list[str]]] = []
    for asked, run, again in zip(program.inputs, first, second, strict=True):
        if not asked.statements and len(drafts) == MAX_INPUTS:
            break
        try:
            drafts.append(_draft(program, asked, run, again))
        except _LeaveOutError as rule:
            inputs[str(rule)] += 1
    completed = [(asked, program.masked_test(asked).completed(), dict[str, Any]()) for asked, _ in drafts]
    problems = await check_assertions(sandbox, program, completed)
    accepted = []
    for (asked, of_statements), problem in zip(drafts, problems, strict=True):
        if problem:
            inputs["its assertion does not hold when completed truly"] += 1
        else:
            accepted.append(asked)
            statements.update(of_statements)
    if not accepted:
        return "no input with a question"
    return program.model_copy(update={"inputs": tuple(accepted)})


class _LeaveOutError(Exception):
    """An input is left out; the message names the rule."""


def _draft(
    program: ProgramQuestions, asked: InputQuestions, run: Run, again: Run
) -> tuple[InputQuestions, list[str]]:
    for either in (run, again):
        if either.outcome != "returned":
            reasons = {"lost": f"not traced: {either.error}", "raised": "the reference raises"}
            raise _LeaveOutError(reasons.get(either.outcome, either.error))
    masked = program.masked_test(asked)
    if not asked.masked and program.test:
        raise _LeaveOutError("the test has no assertion that can be masked")
    if not asked.masked:
        reason = _why_no_question(run.result)
        if reason or run.result is None:
            raise _LeaveOutError(f"the result: {reason}")
        if run.result != again.result:
            raise _LeaveOutError("the result differs from run to run")
        masked = Masked(f"assert {asked.text} == {MASK}", (run.result.text,))
    statements, rules = list(run.statements), list[str]()
    if not asked.statements:
        if len(asked.text) + len(asked.setup) > MAX_INPUT:
            raise _LeaveOutError(f"the input has more than {MAX_INPUT} characters")
        if any(len(original) > MAX_VALUE for original in masked.originals):
            raise _LeaveOutError(f"an expected value has more than {MAX_VALUE} characters")
        left_out = [_why_left_out(one, again) for one in run.statements]
        rules = [why for why in left_out if why]
        statements = [one for one, why in zip(run.statements, left_out, strict=True) if not why]
    if not statements:
        raise _LeaveOutError("no line to ask about")
    truths = {"masked": masked.text, "originals": masked.originals, "statements": tuple(statements)}
    return asked.model_copy(update=truths), rules


def _why_left_out(question: StatementQuestion, again: Run) -> str:
    """The rule by which a chosen question is not asked; empty where it is."""
    if not question.variable:
        return "no variable to ask about"
    if question not in again.statements:
        return "differs from run to run"
    if question.executed and not question.states:
        return "the variable has no value there"
    return next(filter(None, map(_why_no_question, question.states)), "")


def _why_no_question(value: Value | None) -> str:
    """Why no question about a value can be asked; empty where one can."""
    if value is None:
        return "no variable (an iterator, a function or a module)"
    if not value.literal or not value.text:
        return "no literal form"
    if len(value.text) > MAX_VALUE:
        return f"a value has more than {MAX_VALUE} characters"
    try:
        read_literal(value.text)
    except InvalidAnswerError:
        return "no literal form"
    return ""


# By a model of the tracer of REval's authors


async def with_reval_truths(sandbox: Sandbox, program: ProgramQuestions) -> ProgramQuestions:
    """A program's questions with REval's truths of states and paths in the place of ours.

    REval's code is not here. Its tracer was described by people who ran it, and this is that description: a
    return event counts as a step, the next line is that of the next step on another line, and the state after
    a line is what the next step sees, in whatever function that is. So where a line calls a function, the
    next step is in there. `benchmarks/runtime_truth.py` compares the model with ours and with what was
    counted.

    Raises:
        SandboxError: the sandbox itself failed, or the program did not run to its end.
    """
    variables = sorted({one.variable for asked in program.inputs for one in asked.statements})
    stored = [name.replace("self.__", f"self._{program.entry_point}__") for name in variables]
    calls = [Call("events", (program.program, program.run_of(asked), stored)) for asked in program.inputs]
    results = await run_calls(sandbox, "tracer", calls, frozenset(program.libraries), cpu_seconds=(10.0, 5.0))
    inputs = []
    for asked, result in zip(program.inputs, results, strict=True):
        if not isinstance(result, Returned):
            raise SandboxError(f"{program.task_id}#{asked.index}: not traced as REval does: {result}")
        steps = list(result.value)
        statements = [
            _with_reval_truth(one, variables.index(one.variable), steps) for one in asked.statements
        ]
        inputs.append(asked.model_copy(update={"statements": tuple(statements)}))
    return program.model_copy(update={"inputs": tuple(inputs)})


def _with_reval_truth(statement: StatementQuestion, number: int, steps: Sequence[Any]) -> StatementQuestion:
    """A statement with the truth of the variable of this number."""
    lines = [step[0] for step in steps]
    after = {
        next((later for later in lines[place + 1 :] if later != line), -1)
        for place, line in enumerate(lines)
        if line == statement.line
    }
    seen = [following[1][number] for step, following in pairwise(steps) if step[0] == statement.line]
    states = tuple(dict.fromkeys(Value.model_validate(row) if row else NO_VALUE for row in seen))
    return statement.model_copy(
        update={
            "next_lines": tuple(sorted(after or {-1})),
            # Where no value was seen at all, the right answer is Nil, as it is for an empty tuple.
            "states": states if any(value != NO_VALUE for value in states) else (),
        }
    )
