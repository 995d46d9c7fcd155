"""Compares the truths of DREval's questions with those of a model of REval's own tracer.

REval's code is not here. A review of this project ran it and counted where its truths differ from ours: in 52
questions about the path, in 180 about the state, in 188 of the 3,152 questions together. It named three
faults of that tracer. The model has these faults and no others:

- a return event counts as a step: every `line` and `return` event of any function is one, and the next line
  is that of the next step on another line;
- the state after a line is taken in another frame: it is what the next step sees, in whatever function that
  is, and nothing where that function has no such variable;
- values are from before the line: where a line calls a function, the next step is in there, and the line has
  assigned nothing yet.

The model differs from ours in 52 and in 180 questions too, but in 191 together. Eleven of its questions
differ in the path alone, where the review's counts leave eight. None of the eleven has another value in any
step beside its line: `x` at line 4 of DREval/94 (5 questions) exists in none, and `self.input_string` at line
8 of DREval/124 and `phoneNumber` at line 24 of DREval/134 (3 each) do not change. Nor does a variant of the
model give 188: 3,024 were tried (which events are steps, with those of comprehensions or without, steps on
one line merged, what a missing value and the last step count as, how several values count). So 188 is the
review's count, 191 is the model's, and `benchmarks/runtime_truth.csv` holds the model's questions.

The IC that is printed is what a model would get there whose every answer is right by our truths; at least and
at most, as it may answer with any of the values that a line had. The review, with REval's code, found 95.0.
The model gives more: most of its states that differ have the right value and a missing one beside it.

Run: `TRIATHLON_DATA=<folder> python benchmarks/runtime_truth.py` (`--write` writes the table anew)
"""

import asyncio
import csv
import itertools
import os
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from triathlon_runner.datasets import DataStore
from triathlon_runner.runtime import ProgramQuestions
from triathlon_runner.runtime._asking import line_text
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._programs import dreval_programs
from triathlon_runner.runtime._sandboxed import source
from triathlon_runner.runtime._trace import NOT_EXECUTED
from triathlon_runner.sandbox import Call, Job, Limits, Returned, Sandbox, open_sandbox

TABLE: Final = Path(__file__).with_suffix(".csv")
REPORTED: Final = {"path": 52, "state": 180, "either": 188}
"""Questions whose truths differ from those of REval's own code, as a review counted that ran it."""
Question = tuple[str, int, int, str]
"""Program, input, line, variable."""
State = tuple[str, str] | None
"""Type and value as text; None where the variable does not exist."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The right answers to one question, by our truths and by those of the model."""

    our_lines: frozenset[str]
    """Texts of the lines that can come next."""
    their_lines: frozenset[str]
    our_states: frozenset[State]
    their_states: frozenset[State]

    @property
    def differs(self) -> str:
        """`path`, `state`, `path+state`, or nothing."""
        kinds = {
            "path": self.our_lines != self.their_lines,
            "state": self.our_states != self.their_states,
        }
        return "+".join(kind for kind, differs in kinds.items() if differs)

    @property
    def always_right(self) -> bool:
        """Whether each of our answers is right there."""
        return self.our_lines <= self.their_lines and self.our_states <= self.their_states

    @property
    def sometimes_right(self) -> bool:
        """Whether one of our answers is right there."""
        return bool(self.our_lines & self.their_lines and self.our_states & self.their_states)


EVENTS: Final = """

def events(program, run, variables):
    seed_generators(0)
    codes = [compile(variable, "<variable>", "eval") for variable in variables]
    steps = []

    def shown(code, frame):
        try:
            value = eval(code, {"__builtins__": {}}, {**frame.f_locals})
            if isinstance(value, NO_VARIABLES):
                return None
        except Exception:
            return None
        try:
            return [type_name(value), LiteralWriter(20_000).text(value)]
        except NoLiteralFormError as error:
            return [type_name(value), "" if error.too_large else foreign_repr(value, 20_000)]

    def trace(frame, event, _argument):
        if frame.f_code.co_filename != FILE:
            return None
        if event in ("line", "return"):
            sys.settrace(None)
            steps.append([frame.f_lineno, [shown(code, frame) for code in codes]])
            sys.settrace(trace)
        return trace

    with contextlib.redirect_stdout(DiscardedOutput()), contextlib.redirect_stderr(DiscardedOutput()):
        names = load(program)
        if "test" in run:
            known, body = names_of_test(names, run), compile_statements(run["body"])
            call = lambda: eval(body, known)
        else:
            arguments = eval(run["arguments"], names)
            call = lambda: names[run["function"]](*arguments)
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(None)
    return steps
"""
"""Behind the tracer's own program, whose parts it uses: every event with the values of some variables."""


async def steps_of(
    sandbox: Sandbox, program: ProgramQuestions, variables: Sequence[str]
) -> dict[int, list[Any]]:
    """The steps of each input, as REval's tracer counts them."""
    stored = [name.replace("self.__", f"self._{program.entry_point}__") for name in variables]
    calls = tuple(
        Call("events", (program.program, program.run_of(asked), stored)) for asked in program.inputs
    )
    libraries = frozenset(program.libraries)
    job = Job(source("tracer") + EVENTS, calls, limits=Limits(cpu_seconds=60), libraries=libraries)
    execution = await sandbox.run(job)
    steps = {}
    for asked, result in zip(program.inputs, execution.results, strict=True):
        if not isinstance(result, Returned):
            sys.exit(f"{program.task_id}#{asked.index}: {result}")
        steps[asked.index] = list(result.value)
    return steps


def next_lines(line: int, steps: Sequence[Any]) -> set[int]:
    """By the model, the lines that come next: that of the next step on another line."""
    lines = [step[0] for step in steps]
    after = {
        next((later for later in lines[place + 1 :] if later != line), NOT_EXECUTED)
        for place, executed in enumerate(lines)
        if executed == line
    }
    return after or {NOT_EXECUTED}


def states_after(line: int, number: int, steps: Sequence[Any]) -> frozenset[State]:
    """By the model, what a variable is after a line: what the next step sees, wherever that is."""
    seen = {
        tuple(after[1][number]) if after[1][number] else None
        for step, after in itertools.pairwise(steps)
        if step[0] == line
    }
    return frozenset(seen or {None})


def comparisons(
    questions: ProgramQuestions, variables: Sequence[str], steps: Mapping[int, Sequence[Any]]
) -> Iterator[tuple[Question, Compared]]:
    """Every question of a program with both truths."""

    def texts(lines: Iterable[int]) -> frozenset[str]:
        return frozenset(line_text(questions.program, line) for line in lines)

    for asked in questions.inputs:
        taken = steps[asked.index]
        for statement in asked.statements:
            yield (
                (questions.task_id, asked.index, statement.line, statement.variable),
                Compared(
                    our_lines=texts(statement.next_lines),
                    their_lines=texts(next_lines(statement.line, taken)),
                    our_states=frozenset((value.type, value.text) for value in statement.states)
                    or frozenset({None}),
                    their_states=states_after(statement.line, variables.index(statement.variable), taken),
                ),
            )


async def compare(unanswered: Sequence[ProgramQuestions]) -> dict[Question, Compared]:
    """Both truths of all questions."""
    async with open_sandbox() as sandbox:
        programs, _ = await construct(unanswered, sandbox)
        compared: dict[Question, Compared] = {}
        for program in programs:
            variables = sorted(
                {statement.variable for asked in program.inputs for statement in asked.statements}
            )
            steps = await steps_of(sandbox, program, variables)
            compared.update(comparisons(program, variables, steps))
    return compared


def consistency(right: Iterable[bool]) -> float:
    """IC where coverage and output are right: 1 for a question with path and state right as well, else 0."""
    return 100 * statistics.fmean(right)


def counts(kinds_by_question: dict[Question, str]) -> dict[str, int]:
    kinds = list(kinds_by_question.values())
    return {
        "path": sum("path" in kind for kind in kinds),
        "state": sum("state" in kind for kind in kinds),
        "either": len(kinds),
    }


def read_table() -> dict[Question, str]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            (row["program"], int(row["input"]), int(row["line"]), row["variable"]): row["differs"]
            for row in csv.DictReader(file)
        }


def write_table(differences: dict[Question, str]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["program", "input", "line", "variable", "differs"])
        ordered = sorted(differences.items(), key=lambda item: (int(item[0][0].partition("/")[2]), item[0]))
        writer.writerows([*question, differs] for question, differs in ordered)


def main() -> None:
    folder = Path(os.environ.get("TRIATHLON_DATA", "../shared/datasets"))
    if not folder.is_dir():
        sys.exit(f"needs the official data files: no folder {str(folder)!r}; name one in TRIATHLON_DATA")
    with tempfile.TemporaryDirectory() as cache:
        unanswered = dreval_programs(DataStore(cache=Path(cache), folder=folder, fetch=False))
    compared = asyncio.run(compare(unanswered))
    differences = {question: truths.differs for question, truths in compared.items() if truths.differs}
    if "--write" in sys.argv:
        write_table(differences)
    print(f"{'questions that differ':40} path state either")
    for name, numbers in (
        ("REval's own code, as a review counted", REPORTED),
        ("the model of its tracer", counts(differences)),
        (TABLE.name, counts(read_table())),
    ):
        print(f"{name:40} {numbers['path']:4} {numbers['state']:5} {numbers['either']:6}")
    least = consistency(truths.always_right for truths in compared.values())
    most = consistency(truths.sometimes_right for truths in compared.values())
    print(f"IC by the model's truths of a model that is right by ours: {least:.1f} to {most:.1f}")
    sys.exit(0 if differences == read_table() else "the table is not the model's: run with --write")


if __name__ == "__main__":
    main()
