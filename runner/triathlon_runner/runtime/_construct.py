"""Builds questions: traces the references, chooses lines and variables, checks the assertions."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

from triathlon_runner.concurrency import run_all
from triathlon_runner.errors import UserError
from triathlon_runner.memo import memo_key, python_version
from triathlon_runner.runtime._expressions import NOT_READ
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
from triathlon_runner.runtime._select import NOT_EXECUTED, Step, Trace, candidate_statements, choose, watches
from triathlon_runner.sandbox import Call, Execution, Returned, Sandbox, SandboxError
from triathlon_runner.suites import DataSetInfo
from triathlon_runner.syntax import not_installed, parse_expression

QUESTION_RULES: Final = 1
"""Raise it whenever other questions are built from the same data: part of the hash `asked`. It stands for
the questions, which are fewer where a library that a program needs is missing."""
TRUTH_RULES: Final = 1
"""Raise it whenever another truth is traced for the same question: part of the hash `graded`."""
REVAL_RULES: Final = 1
"""Raise it whenever the model of REval's tracer gives another truth: part of the hash `graded`."""
MAX_INPUTS: Final = 5
"""Inputs a program at most (REval's own limit), where the data set does not name its questions."""
MAX_VALUE: Final = 400  # Characters of a value that is asked for: a direct answer has 256 tokens
MAX_INPUT: Final = 2_000  # Characters of an input that is shown
_NEEDS: Final = "needs "  # How the reason begins why a program is left out whose libraries are not installed


@dataclass(frozen=True)
class QuestionSource:
    """A data set that questions are built from, and the place where they may lie ready."""

    data: DataSetInfo
    programs: Callable[[], Iterable[ProgramQuestions]]  # Without truths
    cache: Path | None = None  # A folder for question files; None: build anew each time
    truths: Literal["ours", "reval"] = "ours"  # By our tracer; by a model of that of REval's authors
    file: QuestionFile | None = None  # The questions, where a user has them as a file

    def ready(self) -> QuestionFile | None:
        """The questions of a file, or those built before from the same data by the same code."""
        path = self._cached_path()
        if self.file is not None or path is None or not path.is_file():
            return self.file
        try:
            return read_questions(path)
        except UserError:
            return None  # torn or made by another version; they are built anew

    def _cached_path(self) -> Path | None:
        """Named by a hash of what the questions depend on: data, constructor and the Python that traces."""
        if self.cache is None:
            return None
        truths = () if self.truths == "ours" else (self.truths,)
        return self.cache / f"{memo_key('questions', self.data, _constructor_hash(), *truths)}.json"

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
            made_by=_constructor_hash(),
            python=python_version(),
            report=report,
            programs=programs,
        )
        path = self._cached_path()
        if path is not None:
            write_questions(questions, path)
        return questions


@cache
def _constructor_hash() -> str:
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

    They come without truths: an input's statements are chosen where it has none.
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
        draft = _draft(program, asked, trace, again)
        if isinstance(draft, str):
            inputs[draft] += 1
        else:
            drafts.append(draft)
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


def _draft(  # noqa: PLR0911 (one for each rule)
    program: ProgramQuestions, asked: InputQuestions, trace: Trace, again: Trace
) -> tuple[InputQuestions, list[str]] | str:
    """An input with its questions, and the rules that left lines out; or the rule that leaves it out."""
    for either in (trace, again):
        if either.outcome != "returned":
            reasons = {"lost": f"not traced: {either.error}", "raised": "the reference raises"}
            return reasons.get(either.outcome, either.error)
    masked = program.masked_test(asked)
    if not asked.masked and program.test:
        return "the test has no assertion that can be masked"
    if not asked.masked:
        reason = _why_no_question(trace.result)
        if reason or trace.result is None:
            return f"the result: {reason}"
        if trace.result != again.result:
            return "the result differs from run to run"
        masked = Masked(f"assert {asked.text} == {MASK}", (trace.result.text,))
    rules: list[str] = []
    if asked.statements:
        statements = [
            trace.truth(named.line, named.variable, or_at_next_step=True) for named in asked.statements
        ]
    else:
        if len(asked.text) + len(asked.setup) > MAX_INPUT:
            return f"the input has more than {MAX_INPUT} characters"
        if any(len(original) > MAX_VALUE for original in masked.originals):
            return f"an expected value has more than {MAX_VALUE} characters"
        statements, rules = _chosen_statements(program.program, trace, again)
    if not statements:
        return "no line to ask about"
    truths = {"masked": masked.text, "originals": masked.originals, "statements": tuple(statements)}
    return asked.model_copy(update=truths), rules


def _chosen_statements(program: str, trace: Trace, again: Trace) -> tuple[list[StatementQuestion], list[str]]:
    """The questions that our rules choose, and the rules that left the rest out."""
    places = candidate_statements(program)
    pairs_again = choose(places, again)
    questions, left_out = [], []
    for line, variable in choose(places, trace):
        question = trace.truth(line, variable)
        if not variable:
            reason = "no variable to ask about"
        elif (line, variable) not in pairs_again or again.truth(line, variable) != question:
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


def _why_no_question(value: Value | None) -> str:
    """Why no question about a value can be asked; empty where one can."""
    if value is None:
        return "no variable (an iterator, a function or a module)"
    if value.literal and len(value.text) > MAX_VALUE:
        return f"a value has more than {MAX_VALUE} characters"
    try:
        parse_expression(value.text if value.literal else "")
    except NOT_READ:
        return "no literal form"
    return ""


# Traces


async def trace_runs(
    sandbox: Sandbox, program: ProgramQuestions, watched: Mapping[int, list[str]], *, seed: int = 0
) -> list[Trace]:
    """Traces the inputs of a program in one child, each with a fresh program and seeded generators.

    An input that ends the child is lost; those after it are traced in another child. `watched` are the
    expressions to read after a line.
    """
    calls = [
        Call("trace", (program.program, program.run_of(asked), dict(watched), seed))
        for asked in program.inputs
    ]
    libraries = frozenset(program.libraries)
    traces = []
    for result in await run_calls(sandbox, "tracer", calls, libraries, cpu_seconds=(10.0, 2.0)):
        if isinstance(result, Returned):
            traces.append(read_trace(result.value, watched))
        else:
            ended = isinstance(result, Execution) and (result.detail or result.ended.value)
            traces.append(Trace("lost", ended or str(result)))
    return traces


def read_trace(plain: Any, watched: Mapping[int, list[str]]) -> Trace:
    """The trace in what the tracer returned; a lost one where the program has tampered with that."""
    try:
        values = [Value(type=kind, text=text, literal=literal) for kind, text, literal in plain["values"]]
        snapshots = [{name: values[number] for name, number in row.items()} for row in plain["snapshots"]]
        steps = tuple(
            Step(
                line=int(line),
                before=snapshots[before] if before >= 0 else {},
                after=snapshots[after] if after >= 0 else {},
                watched={
                    text: values[number]
                    for text, number in zip(watched.get(line, ()), numbers, strict=False)
                    if number >= 0
                },
            )
            for line, before, after, numbers in plain["steps"]
        )
        result = values[plain["result"]] if plain["result"] >= 0 else None
        return Trace(plain["outcome"], plain["error"], result, steps)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return Trace("lost", f"the tracer's answer is not a trace ({type(error).__name__}: {error})")


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
        next((later for later in lines[place + 1 :] if later != line), NOT_EXECUTED)
        for place, line in enumerate(lines)
        if line == statement.line
    }
    seen = [following[1][number] for step, following in pairwise(steps) if step[0] == statement.line]
    states = tuple(
        dict.fromkeys(Value(type=of[0], text=of[1], literal=of[2]) if of else NO_VALUE for of in seen)
    )
    return statement.model_copy(
        update={
            "next_lines": tuple(sorted(after or {NOT_EXECUTED})),
            # Where no value was seen at all, the right answer is Nil, as it is for an empty tuple.
            "states": states if any(value != NO_VALUE for value in states) else (),
        }
    )
