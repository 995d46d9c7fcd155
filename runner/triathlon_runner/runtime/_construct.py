"""Builds questions: traces the references, chooses lines and variables, checks the assertions."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from triathlon_runner.concurrency import run_all
from triathlon_runner.errors import UserError
from triathlon_runner.memo import memo_key, python_version
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._literals import read_literal
from triathlon_runner.runtime._masked import MASK, Masked
from triathlon_runner.runtime._outputs import check_assertions
from triathlon_runner.runtime._questions import (
    FilterReport,
    InputQuestions,
    ProgramQuestions,
    QuestionFile,
    StatementQuestion,
    Value,
    read_questions,
    write_questions,
)
from triathlon_runner.runtime._select import candidate_statements, choose, watches
from triathlon_runner.runtime._trace import Trace, trace_runs, with_reval_truths
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import DataSetInfo
from triathlon_runner.syntax import not_installed

QUESTION_RULES: Final = 1
"""Raise it whenever other questions are built from the same data: part of the hash `asked`. It stands for
the questions, which are fewer where a library that a program needs is missing."""
TRUTH_RULES: Final = 1
"""Raise it whenever another truth is traced for the same question: part of the hash `graded`."""
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
    programs: Callable[[], Iterable[ProgramQuestions]]
    """Without truths."""
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
        """Named by a hash of what the questions depend on: data, constructor and the Python that traces."""
        if self.cache is None:
            return None
        truths = () if self.truths == "ours" else (self.truths,)
        return self.cache / f"{memo_key('questions', self.data, constructor_hash(), *truths)}.json"

    async def build(self, sandbox: Sandbox) -> QuestionFile:
        """Traces the references and stores the questions, where there is a folder for them.

        Raises:
            SandboxError: the sandbox itself failed.
            UserError: the folder can't be written to.
        """
        programs, report = await construct(self.programs(), sandbox)
        if self.truths == "reval":
            programs = tuple(await run_all(with_reval_truths(sandbox, program) for program in programs))
        questions = QuestionFile(
            dataset=self.data.name,
            version=self.data.version,
            sha256=self.data.sha256,
            made_by=constructor_hash(),
            python=python_version(),
            report=report,
            programs=programs,
        )
        path = self._cached_path()
        if path is not None:
            write_questions(questions, path)
        return questions


@cache
def constructor_hash() -> str:
    """Hash of the code that may shape a question: this folder's, with what runs in the sandbox."""
    package = files("triathlon_runner")
    folder = package / "runtime"
    entries = [package / "syntax.py", *folder.iterdir(), *(folder / "_sandboxed").iterdir()]
    texts = sorted((entry.name, entry.read_text("utf-8")) for entry in entries if entry.name.endswith(".py"))
    return hashlib.sha256(repr(texts).encode()).hexdigest()


def without_libraries(left_out_programs: Mapping[str, str]) -> dict[str, str]:
    """Returns the programs that were left out because a library is not installed, with the reason."""
    return {task: why for task, why in left_out_programs.items() if why.startswith(_NEEDS)}


async def construct(
    programs: Iterable[ProgramQuestions], sandbox: Sandbox
) -> tuple[tuple[ProgramQuestions, ...], FilterReport]:
    """Builds the questions of a data set's programs.

    They come without truths (`_programs`): an input's statements are chosen where it has none.
    """
    candidates = list(programs)
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
    watched = watches(program.program)
    for statement in (statement for asked in program.inputs for statement in asked.statements):
        expressions = watched.setdefault(statement.line, [])
        if statement.variable not in expressions:
            expressions.append(statement.variable)
    # In two processes, random numbers seeded differently: what differs depends on chance or time.
    first, second = [await trace_runs(sandbox, program, watched, seed=seed) for seed in (0, 1)]
    drafts: list[tuple[InputQuestions, list[str]]] = []
    for asked, trace, again in zip(program.inputs, first, second, strict=True):
        if not asked.statements and len(drafts) == MAX_INPUTS:
            break
        try:
            drafts.append(_draft(program, asked, trace, again))
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
    program: ProgramQuestions, asked: InputQuestions, trace: Trace, again: Trace
) -> tuple[InputQuestions, list[str]]:
    for either in (trace, again):
        if either.outcome != "returned":
            reasons = {"lost": f"not traced: {either.error}", "raised": "the reference raises"}
            raise _LeaveOutError(reasons.get(either.outcome, either.error))
    masked = program.masked_test(asked)
    if not asked.masked and program.test:
        raise _LeaveOutError("the test has no assertion that can be masked")
    if not asked.masked:
        reason = _why_no_question(trace.result)
        if reason or trace.result is None:
            raise _LeaveOutError(f"the result: {reason}")
        if trace.result != again.result:
            raise _LeaveOutError("the result differs from run to run")
        masked = Masked(f"assert {asked.text} == {MASK}", (trace.result.text,))
    rules: list[str] = []
    if asked.statements:
        statements = [
            _statement(named.line, named.variable, trace, or_at_next_step=True) for named in asked.statements
        ]
    else:
        if len(asked.text) + len(asked.setup) > MAX_INPUT:
            raise _LeaveOutError(f"the input has more than {MAX_INPUT} characters")
        if any(len(original) > MAX_VALUE for original in masked.originals):
            raise _LeaveOutError(f"an expected value has more than {MAX_VALUE} characters")
        statements, rules = _chosen_statements(program.program, trace, again)
    if not statements:
        raise _LeaveOutError("no line to ask about")
    truths = {"masked": masked.text, "originals": masked.originals, "statements": tuple(statements)}
    return asked.model_copy(update=truths), rules


def _chosen_statements(program: str, trace: Trace, again: Trace) -> tuple[list[StatementQuestion], list[str]]:
    """The questions that our rules choose, and the rules that left the rest out."""
    places = candidate_statements(program)
    pairs_again = choose(places, again)
    questions, left_out = [], []
    for line, variable in choose(places, trace):
        question = _statement(line, variable, trace)
        if not variable:
            reason = "no variable to ask about"
        elif (line, variable) not in pairs_again or _statement(line, variable, again) != question:
            reason = "differs from run to run"
        elif question.executed and not question.states:
            reason = "the variable has no value there"
        else:
            reason = next(filter(None, map(_why_no_question, question.states)), "")
        if reason:
            left_out.append(reason)
        else:
            questions.append(question)
    return questions, left_out


def _statement(line: int, variable: str, trace: Trace, *, or_at_next_step: bool = False) -> StatementQuestion:
    """The question with its truth; a variable that a data set names may be of a function called there."""
    states = trace.observed(line, variable)
    if or_at_next_step and not states:
        states = trace.values_at_next_step(line, variable)
    return StatementQuestion(
        line=line,
        variable=variable,
        executed=trace.executed(line),
        states=states,
        next_lines=tuple(sorted(trace.successors(line))),
    )


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
