"""What is asked about a program, with the truth: the schema of a question file."""

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.records import Strict
from triathlon_runner.runtime._masked import Masked
from triathlon_runner.store import replace_file
from triathlon_runner.suites import DataSetInfo

SCHEMA: Final = 1
NIL: Final = "Nil"
"""The value of a variable at a line that is not executed."""


class Value(Strict):
    """A value and its type, as text."""

    type: str
    text: str
    """Empty where nothing can be written for the value; then no answer about it is right."""
    literal: bool = True
    """False: the text is what `repr` gives, and an answer has to repeat it."""

    def __str__(self) -> str:
        if self == NO_VALUE:
            return NIL
        return f"{self.text or '(nothing that can be written)'}; {self.type}"


NO_VALUE: Final = Value(type=NIL, text=NIL, literal=False)
"""Beside values that a variable had: REval's own tracer also saw a step where it had none."""


class StatementQuestion(Strict):
    """A line and a variable, with the truth about them."""

    line: int
    """1-based: where the statement begins."""
    variable: str
    executed: bool
    states: tuple[Value, ...]
    """Every value that the variable had after the line; empty where the line ran and it had none."""
    next_lines: tuple[int, ...]
    """Every line that was executed next; -1 where none was."""


class InputQuestions(Strict):
    """The questions about one input of a program."""

    index: int
    """Position among the program's inputs, from 0."""
    text: str
    """The call, or the body of the test, as it is shown."""
    shown: str = ""
    """As the data set writes it, where `text` writes it otherwise."""
    setup: str = ""
    """What the test's set-up did before; its execution is not asked about."""
    arguments: str = ""
    """Source of the argument tuple, for a function."""
    test_class: str = ""
    test_method: str = ""
    masked: str
    """The assertions with `??` in place of what is expected; empty before a call's result is known."""
    originals: tuple[str, ...]
    """Source of the expression that each `??` replaces."""
    statements: tuple[StatementQuestion, ...]

    @property
    def assertion(self) -> Masked:
        return Masked(self.masked, self.originals)


class ProgramQuestions(Strict):
    """A program and what is asked about it."""

    task_id: str
    program: str
    entry_point: str
    """The function that is called, or the class under test."""
    test: str = ""
    """The unittest module; empty for a function."""
    libraries: tuple[str, ...] = ()
    level: int | None = None
    inputs: tuple[InputQuestions, ...]

    def run_of(self, asked: InputQuestions) -> dict[str, str]:
        """What the sandbox executes for an input: a call, or a test method whose statements are `body`."""
        if not self.test:
            return {"function": self.entry_point, "arguments": asked.arguments}
        return {
            "test": self.test,
            "class": asked.test_class,
            "method": asked.test_method,
            "body": asked.text,
        }


class FilterReport(Strict):
    """How many candidates there were and which rule left how many out."""

    programs: int = 0
    """Programs with at least one question."""
    inputs: int = 0
    """(program, input) pairs with at least one question."""
    block_ends: int = 0
    """Last suitable statements of basic blocks, counted once an input."""
    questions: int = 0
    """(program, input, line, variable): REval's number of problems."""
    left_out_statements: dict[str, int] = Field(default_factory=dict)
    left_out_inputs: dict[str, int] = Field(default_factory=dict)
    left_out_programs: dict[str, str] = Field(default_factory=dict)
    """By task_id, the reason."""


class QuestionFile(Strict):
    """All questions of a data set, as one file."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
    dataset: str
    version: str
    sha256: str
    """Of the data that it was built from."""
    made_by: str
    """Hash of the tracer and the constructor."""
    python: str = ""
    """The Python that traced, as `3.11`: from 3.12 on comprehensions have no frame, and truths differ."""
    report: FilterReport
    programs: tuple[ProgramQuestions, ...]

    @property
    def asked(self) -> list[Any]:
        """What is asked, without the truth."""
        return [
            (program.task_id, program.program, program.test, asked.setup, asked.text, asked.masked, places)
            for program in self.programs
            for asked in program.inputs
            for places in [[(statement.line, statement.variable) for statement in asked.statements]]
        ]

    @property
    def truths(self) -> list[Any]:
        """The truth alone."""
        return [
            (asked.originals, [statement.model_dump() for statement in asked.statements])
            for program in self.programs
            for asked in program.inputs
        ]

    @property
    def data(self) -> DataSetInfo:
        """What it was built from, as a manifest names it."""
        return DataSetInfo(self.dataset, self.version, self.sha256)


def write_questions(questions: QuestionFile, path: Path) -> None:
    """Writes the file: the same questions give the same bytes.

    Raises:
        UserError: it can't be written there.
    """
    replace_file(path, questions.model_dump_json(by_alias=True, indent=1) + "\n")


def read_questions(path: Path) -> QuestionFile:
    """Reads a question file.

    Raises:
        UserError: it is not there, or is no question file of this version.
    """
    try:
        return QuestionFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{str(path)!r} can't be read as a question file: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(
            f"{str(path)!r} is no question file of version {SCHEMA}: {first['msg']} at {first['loc']!r}, "
            f"got {str(first.get('input'))[:80]!r}. Build it anew with `triathlon questions build`."
        ) from error
