"""Compares the truths of DREval's questions with those of a model of REval's own tracer.

REval's code is not here. The model has the three faults that explain its truths: every `line` and `return`
event of any function is a step; the state after a line is what the next step sees, in whatever function that
is (and none where that has no such variable); the next line is that of the next step on another line.

A comparison with REval's own code found that its truths differ from ours in 52 questions about the path, in
180 about the state, in 188 of the 3,152 questions together. The model gives 52 and 180 too, but 191 together:
a few of its questions are other ones. `benchmarks/runtime_truth.csv` holds the model's.

Run: `TRIATHLON_DATA=<folder> python benchmarks/runtime_truth.py` (`--write` writes the table anew)
"""

import asyncio
import csv
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from triathlon_runner.datasets import DataStore
from triathlon_runner.runtime import ProgramQuestions, StatementQuestion
from triathlon_runner.runtime._asking import line_text
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._official import dreval_subjects
from triathlon_runner.runtime._programs import Subject
from triathlon_runner.runtime._sandboxed import source
from triathlon_runner.sandbox import Call, Job, Limits, Returned, Sandbox, open_sandbox

TABLE: Final = Path(__file__).with_suffix(".csv")
FOUND: Final = {"path": 52, "state": 180, "either": 188}
"""Questions whose truths differ from those of REval's own code."""
Question = tuple[str, int, int, str]
"""Program, input, line, variable."""

EVENTS: Final = """

def events(program, run, variables):
    seed_chance(0)
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
            return [type_name(value), Speller(20_000).text(value)]
        except UnspeakableError as error:
            return [type_name(value), "" if error.too_large else foreign_repr(value, 20_000)]

    def trace(frame, event, _argument):
        if frame.f_code.co_filename != FILE:
            return None
        if event in ("line", "return"):
            sys.settrace(None)
            steps.append([frame.f_lineno, [shown(code, frame) for code in codes]])
            sys.settrace(trace)
        return trace

    with contextlib.redirect_stdout(Nowhere()), contextlib.redirect_stderr(Nowhere()):
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


async def steps_of(sandbox: Sandbox, subject: Subject, variables: Sequence[str]) -> dict[int, list[Any]]:
    """The steps of each input, as REval's tracer counts them."""
    stored = [one.replace("self.__", f"self._{subject.entry_point}__") for one in variables]
    calls = tuple(Call("events", (subject.program, one.run.plain(), stored)) for one in subject.candidates)
    job = Job(source("tracer") + EVENTS, calls, limits=Limits(cpu_seconds=60), libraries=subject.libraries)
    execution = await sandbox.run(job)
    found = {}
    for one, result in zip(subject.candidates, execution.results, strict=True):
        if not isinstance(result, Returned):
            sys.exit(f"{subject.task_id}#{one.index}: {result}")
        found[one.index] = list(result.value)
    return found


def path_differs(program: str, asked: StatementQuestion, steps: Sequence[Any]) -> bool:
    """Whether the next lines differ, as texts: the model goes to the next step on another line."""
    lines = [step[0] for step in steps]
    after = set()
    for place, line in enumerate(lines):
        if line == asked.line:
            after.add(next((other for other in lines[place + 1 :] if other != line), -1))
    theirs, ours = (
        {line_text(program, line) for line in found} for found in (after or {-1}, asked.next_lines)
    )
    return theirs != ours


def state_differs(asked: StatementQuestion, number: int, steps: Sequence[Any]) -> bool:
    """Whether the values differ; a step that does not have the variable has no value, which is one more."""
    theirs = {
        tuple(after[1][number]) if after[1][number] else None
        for step, after in itertools.pairwise(steps)
        if step[0] == asked.line
    }
    ours = {(value.type, value.text) for value in asked.states}
    return (theirs if theirs != {None} else set()) != ours


def differences(
    questions: ProgramQuestions, variables: Sequence[str], steps: dict[int, list[Any]]
) -> Iterator[tuple[Question, str]]:
    """Every question of a program whose truth differs, and in what."""
    for asked in questions.inputs:
        for one in asked.statements:
            taken = steps[asked.index]
            found = [
                kind
                for kind, differs in (
                    ("path", path_differs(questions.program, one, taken)),
                    ("state", state_differs(one, variables.index(one.variable), taken)),
                )
                if differs
            ]
            if found:
                yield (questions.task_id, asked.index, one.line, one.variable), "+".join(found)


async def compare(subjects: Sequence[Subject]) -> dict[Question, str]:
    """All questions whose truths differ between the model and our tracer."""
    async with open_sandbox() as sandbox:
        programs, _ = await construct(subjects, sandbox)
        by_id = {subject.task_id: subject for subject in subjects}
        found: dict[Question, str] = {}
        for program in programs:
            variables = sorted({one.variable for asked in program.inputs for one in asked.statements})
            steps = await steps_of(sandbox, by_id[program.task_id], variables)
            found.update(differences(program, variables, steps))
    return found


def counts(found: dict[Question, str]) -> dict[str, int]:
    kinds = list(found.values())
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


def write_table(found: dict[Question, str]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["program", "input", "line", "variable", "differs"])
        ordered = sorted(found.items(), key=lambda item: (int(item[0][0].partition("/")[2]), item[0]))
        writer.writerows([*question, differs] for question, differs in ordered)


def main() -> None:
    folder = Path(os.environ.get("TRIATHLON_DATA", "../shared/datasets"))
    if not folder.is_dir():
        sys.exit(f"needs the official data files: no folder {str(folder)!r}; name one in TRIATHLON_DATA")
    with tempfile.TemporaryDirectory() as cache:
        subjects = dreval_subjects(DataStore(cache=Path(cache), folder=folder, fetch=False))
    found = asyncio.run(compare(subjects))
    if "--write" in sys.argv:
        write_table(found)
    print(f"{'questions that differ':40} path state either")
    for name, numbers in (
        ("REval's own code, as was found", FOUND),
        ("the model of its tracer", counts(found)),
        (TABLE.name, counts(read_table())),
    ):
        print(f"{name:40} {numbers['path']:4} {numbers['state']:5} {numbers['either']:6}")
    sys.exit(0 if found == read_table() else "the table is not the model's: run with --write")


if __name__ == "__main__":
    main()
