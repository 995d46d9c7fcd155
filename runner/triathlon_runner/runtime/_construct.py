"""Builds questions: traces the references, chooses lines and variables, checks the assertions."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.runtime._assertions import Masked
from triathlon_runner.runtime._check import Assertion, check_assertions
from triathlon_runner.runtime._literals import NotALiteralError, read_literal
from triathlon_runner.runtime._masking import mask_call
from triathlon_runner.runtime._programs import MAX_INPUTS, Candidate, Subject
from triathlon_runner.runtime._questions import (
    FilterReport,
    InputQuestions,
    ProgramQuestions,
    StatementQuestion,
    Value,
    count_questions,
)
from triathlon_runner.runtime._select import (
    CandidateStatement,
    Choice,
    Chosen,
    candidate_statements,
    choose,
    watches,
)
from triathlon_runner.runtime._trace import (
    CaseRun,
    FunctionRun,
    Observed,
    Run,
    Trace,
    TraceRequest,
    Untraced,
    trace_runs,
)
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.syntax import not_installed

MAX_VALUE: Final = 400
"""Characters of a value that is asked for: a direct answer has 256 tokens."""
MAX_INPUT: Final = 2_000
"""Characters of an input that is shown."""


@dataclass(slots=True)
class _Tally:
    """Counts for the filter report."""

    block_ends: int = 0
    statements: Counter[str] = field(default_factory=Counter)
    inputs: Counter[str] = field(default_factory=Counter)
    programs: dict[str, str] = field(default_factory=dict)


_QUESTION_MODULES: Final = frozenset(
    f"_{name}.py"
    for name in (
        *("blocks", "select", "masking", "programs", "construct", "trace", "questions", "official"),
        *("literals", "assertions", "names", "reading", "check"),
    )
)
"""Modules that decide what a question or its truth is."""


@cache
def constructor_hash() -> str:
    """Hash of everything that shapes a question: tracer, selection and masking."""
    package = files("triathlon_runner")
    folder = package / "runtime"
    parts = [package / "syntax.py", *(entry for entry in folder.iterdir() if entry.name in _QUESTION_MODULES)]
    parts += [entry for entry in (folder / "_sandboxed").iterdir() if entry.name.endswith(".py")]
    texts = sorted((entry.name, entry.read_text("utf-8")) for entry in parts)
    return hashlib.sha256(repr(texts).encode()).hexdigest()


async def construct(
    subjects: Iterable[Subject], sandbox: Sandbox
) -> tuple[tuple[ProgramQuestions, ...], FilterReport]:
    """Builds the questions of a data set.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    tally = _Tally()
    results = await run_all(_program(subject, sandbox, tally) for subject in subjects)
    programs = tuple(program for program in results if program is not None)
    return programs, FilterReport(
        programs=len(programs),
        inputs=sum(len(program.inputs) for program in programs),
        block_ends=tally.block_ends,
        questions=count_questions(programs),
        left_out_statements=dict(sorted(tally.statements.items())),
        left_out_inputs=dict(sorted(tally.inputs.items())),
        left_out_programs=dict(sorted(tally.programs.items())),
    )


async def _program(subject: Subject, sandbox: Sandbox, tally: _Tally) -> ProgramQuestions | None:
    absent = not_installed(subject.libraries)
    if absent:
        tally.programs[subject.task_id] = f"needs {', '.join(absent)}, not installed here"
        return None
    drafts = _drafts(subject, await _trace_twice(subject, sandbox), tally)
    accepted = await _with_true_assertions(subject, drafts, sandbox, tally)
    if not accepted:
        tally.programs[subject.task_id] = "no input with a question"
        return None
    tally.block_ends += sum(draft.block_ends for draft in accepted)
    for draft in accepted:
        tally.statements.update(draft.left_out)
    return ProgramQuestions(
        task_id=subject.task_id,
        program=subject.program,
        entry_point=subject.entry_point,
        test=subject.test,
        libraries=tuple(sorted(subject.libraries)),
        level=subject.level,
        inputs=tuple(draft.questions for draft in accepted),
    )


async def _trace_twice(subject: Subject, sandbox: Sandbox) -> list[tuple[Trace | Untraced, Trace | Untraced]]:
    """Two traces of each input, in two processes, random numbers seeded differently.

    What differs between them depends on chance or time.
    """
    wanted = watches(subject.program)
    for pairs in (subject.pairs or {}).values():
        for line, variable in pairs:
            variables = wanted.setdefault(line, [])
            if variable not in variables:
                variables.append(variable)
    requests = [TraceRequest(candidate.run, wanted) for candidate in subject.candidates]
    first = await trace_runs(sandbox, subject.program, requests, libraries=subject.libraries)
    second = await trace_runs(sandbox, subject.program, requests, libraries=subject.libraries, seed=1)
    return list(zip(first, second, strict=True))


class _LeaveOutError(Exception):
    """An input is left out; the message names the rule."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """An input's questions before its assertion was executed."""

    questions: InputQuestions
    run: Run
    block_ends: int
    left_out: tuple[str, ...]


def _drafts(
    subject: Subject, traces: Sequence[tuple[Trace | Untraced, Trace | Untraced]], tally: _Tally
) -> list[_Draft]:
    places = candidate_statements(subject.program)
    drafts: list[_Draft] = []
    for candidate, (trace, again) in zip(subject.candidates, traces, strict=True):
        if subject.pairs is None and len(drafts) == MAX_INPUTS:
            break
        try:
            drafts.append(_draft(subject, candidate, places, _complete_trace(trace), _complete_trace(again)))
        except _LeaveOutError as rule:
            tally.inputs[str(rule)] += 1
    return drafts


def _complete_trace(trace: Trace | Untraced) -> Trace:
    """A trace that came to its end.

    Raises:
        _LeaveOutError: it did not.
    """
    if isinstance(trace, Untraced):
        raise _LeaveOutError(f"not traced: {trace.reason}")
    if trace.outcome != "returned":
        raise _LeaveOutError("the reference raises" if trace.outcome == "raised" else trace.error)
    return trace


def _draft(
    subject: Subject, candidate: Candidate, places: Sequence[CandidateStatement], trace: Trace, again: Trace
) -> _Draft:
    pairs = None if subject.pairs is None else subject.pairs[candidate.index]
    masked = candidate.masked or _masked_call(candidate, trace, again)
    if pairs is None:
        _check_size(candidate, masked)
        choice, choice_again = choose(places, trace), choose(places, again)
        statements, left_out = _asked(choice, trace, choice_again, again)
    else:
        statements, left_out = [_predefined_statement(*pair, trace) for pair in pairs], []
    if not statements:
        raise _LeaveOutError("no line to ask about")
    questions = InputQuestions(
        index=candidate.index,
        text=candidate.text,
        setup=candidate.setup,
        arguments=candidate.run.arguments if isinstance(candidate.run, FunctionRun) else "",
        test_class=candidate.run.class_name if isinstance(candidate.run, CaseRun) else "",
        test_method=candidate.run.method if isinstance(candidate.run, CaseRun) else "",
        masked=masked.text,
        originals=masked.originals,
        statements=tuple(statements),
    )
    return _Draft(questions, candidate.run, len(statements) + len(left_out), tuple(left_out))


def _masked_call(candidate: Candidate, trace: Trace, again: Trace) -> Masked:
    if isinstance(candidate.run, CaseRun):
        raise _LeaveOutError("the test has no assertion that can be masked")
    reason = _why_no_question(trace.result)
    if reason or trace.result is None:
        raise _LeaveOutError(f"the result: {reason}")
    if trace.result != again.result:
        raise _LeaveOutError("the result differs from run to run")
    return mask_call(candidate.text, trace.result.text)


def _check_size(candidate: Candidate, masked: Masked) -> None:
    if len(candidate.text) + len(candidate.setup) > MAX_INPUT:
        raise _LeaveOutError(f"the input has more than {MAX_INPUT} characters")
    if any(len(original) > MAX_VALUE for original in masked.originals):
        raise _LeaveOutError(f"an expected value has more than {MAX_VALUE} characters")


def _asked(
    choice: Choice, trace: Trace, choice_again: Choice, again: Trace
) -> tuple[list[StatementQuestion], list[str]]:
    """The questions of a choice, and the rules that left the rest out."""
    questions, left_out = [], list(choice.left_out.values())
    for chosen in choice.pairs:
        question = _statement(chosen, trace)
        reason = _why_no_state_question(question)
        if chosen not in choice_again.pairs or _statement(chosen, again) != question:
            reason = "differs from run to run"
        if reason:
            left_out.append(reason)
        else:
            questions.append(question)
    return questions, left_out


def _predefined_statement(line: int, variable: str, trace: Trace) -> StatementQuestion:
    """The question for a (line, variable) of the data set; in DREval it may be of a called function."""
    question = _statement(Chosen(line, variable), trace)
    if question.states:
        return question
    return question.model_copy(update={"states": _values(trace.values_at_next_step(line, variable))})


def _statement(chosen: Chosen, trace: Trace) -> StatementQuestion:
    return StatementQuestion(
        line=chosen.line,
        variable=chosen.variable,
        executed=trace.executed(chosen.line),
        states=_values(trace.observed(chosen.line, chosen.variable)),
        next_lines=tuple(sorted(trace.successors(chosen.line))),
    )


def _values(seen: Iterable[Observed]) -> tuple[Value, ...]:
    return tuple(Value(type=value.type, text=value.text, literal=not value.reason) for value in seen)


def _why_no_state_question(question: StatementQuestion) -> str:
    if question.executed and not question.states:
        return "the variable has no value there"
    values = [
        Observed(value.type, value.text, "" if value.literal else "no literal form")
        for value in question.states
    ]
    return next((reason for value in values if (reason := _why_no_question(value))), "")


def _why_no_question(value: Observed | None) -> str:
    """Why no question about a value can be asked; empty where one can."""
    if value is None:
        return "no variable (an iterator, a function or a module)"
    if value.reason or not value.text:
        return "no literal form"
    if len(value.text) > MAX_VALUE:
        return f"a value has more than {MAX_VALUE} characters"
    try:
        read_literal(value.text)
    except NotALiteralError:
        return "no literal form"
    return ""


async def _with_true_assertions(
    subject: Subject, drafts: Sequence[_Draft], sandbox: Sandbox, tally: _Tally
) -> list[_Draft]:
    """The inputs whose assertion holds when its masks are filled with the original text."""
    asked = [Assertion(draft.run, draft.questions.assertion.completed()) for draft in drafts]
    problems = await check_assertions(sandbox, subject.program, asked, subject.libraries)
    accepted = []
    for draft, problem in zip(drafts, problems, strict=True):
        if problem:
            tally.inputs["its assertion does not hold when completed truly"] += 1
        else:
            accepted.append(draft)
    return accepted
