"""Compares the truths of DREval's questions with those of a model of REval's own tracer.

The model is `runtime/_construct.py`, by which `runtime/dreval@reval-truths` grades.

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
import os
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.datasets import DataStore
from triathlon_runner.runtime import ProgramQuestions, Value
from triathlon_runner.runtime._construct import construct, with_reval_truths
from triathlon_runner.runtime._programs import dreval_programs
from triathlon_runner.runtime._questions import NO_VALUE, line_text
from triathlon_runner.sandbox import open_sandbox

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


def comparisons(ours: ProgramQuestions, theirs: ProgramQuestions) -> Iterator[tuple[Question, Compared]]:
    """Every question of a program with both truths."""

    def texts(lines: Iterable[int]) -> frozenset[str]:
        return frozenset(line_text(ours.program, line) for line in lines)

    def states(values: Iterable[Value]) -> frozenset[State]:
        shown = (None if value == NO_VALUE else (value.type, value.text) for value in values)
        return frozenset(shown) or frozenset({None})

    for our_input, their_input in zip(ours.inputs, theirs.inputs, strict=True):
        for our, their in zip(our_input.statements, their_input.statements, strict=True):
            yield (
                (ours.task_id, our_input.index, our.line, our.variable),
                Compared(
                    our_lines=texts(our.next_lines),
                    their_lines=texts(their.next_lines),
                    our_states=states(our.states),
                    their_states=states(their.states),
                ),
            )


async def compare(unanswered: Sequence[ProgramQuestions]) -> dict[Question, Compared]:
    """Both truths of all questions."""
    async with open_sandbox() as sandbox:
        programs, _ = await construct(unanswered, sandbox)
        compared: dict[Question, Compared] = {}
        for program in programs:
            compared.update(comparisons(program, await with_reval_truths(sandbox, program)))
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
