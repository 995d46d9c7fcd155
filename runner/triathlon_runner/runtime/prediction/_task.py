"""One program with one input, and the assertion about it that is to be completed."""

from dataclasses import dataclass
from typing import Literal

from triathlon_runner.runtime._assertions import MASK
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.syntax import third_party

Asked = Literal["output", "input"]
"""Which side of the assertion is masked."""

FUNCTION = "f"
"""The function of every CRUXEval program."""


def argument_tuple(source: str) -> str:
    """Source of the tuple of a call's arguments; the last one may have a comma behind it."""
    arguments = source.strip().removesuffix(",")
    return f"({arguments},)" if arguments else "()"


@dataclass(frozen=True, slots=True)
class PredictionTask:
    """A program that defines `f`, one input and what `f` returns for it."""

    task_id: str
    program: str
    input: str
    """Source of the arguments between the parentheses of the call."""
    output: str
    """Source of the value."""

    @property
    def libraries(self) -> frozenset[str]:
        """Libraries that the program needs besides the standard library."""
        return third_party(self.program)

    def assertion(self) -> str:
        """The complete assertion with the data set's own input and output."""
        return f"assert {FUNCTION}({self.input}) == {self.output}"

    def masked(self, asked: Asked) -> str:
        """The assertion with `??` in place of what is asked for."""
        if asked == "output":
            return f"assert {FUNCTION}({self.input}) == {MASK}"
        return f"assert {FUNCTION}({MASK}) == {self.output}"

    def output_question(self) -> tuple[ProgramQuestions, InputQuestions]:
        """The program and its masked output as an output question, to be graded as those are."""
        asked = InputQuestions(
            index=0,
            text=f"{FUNCTION}({self.input})",
            arguments=argument_tuple(self.input),
            masked=self.masked("output"),
            originals=(self.output,),
            statements=(),
        )
        program = ProgramQuestions(
            task_id=self.task_id,
            program=self.program,
            entry_point=FUNCTION,
            libraries=tuple(sorted(self.libraries)),
            inputs=(asked,),
        )
        return program, asked
