"""What is asked about a program, with the truth: the schema of a question file, and the words of a question.

Questions are worded as figure 3 of the REval paper lays them out, or with REval's own files.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import Field, ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.llm import Chat, Completion, Message, Sampling
from triathlon_runner.prompts import PromptSet, template_of
from triathlon_runner.records import UNTAGGED, Strict
from triathlon_runner.runtime._masked import Masked
from triathlon_runner.store import replace_file
from triathlon_runner.suites import DataSetInfo
from triathlon_runner.syntax import parse_or_none, program_lines

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

    def masked_test(self, asked: InputQuestions) -> Masked:
        """The output question of an input, as answers to it are read."""
        return Masked(asked.masked, asked.originals, self.program, asked.setup)

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
    """The rules of questions and of truths (`_construct`)."""
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
        UserError: it is not there, is no question file of this version, or asks what cannot be asked.
    """
    try:
        questions = QuestionFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{str(path)!r} can't be read as a question file: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(
            f"{str(path)!r} is no question file of version {SCHEMA}: {first['msg']} at {first['loc']!r}, "
            f"got {str(first.get('input'))[:80]!r}. Build it anew with `triathlon questions build`."
        ) from error
    names = Counter(program.task_id for program in questions.programs)
    for program in questions.programs:
        fault = "another one has its task_id" if names[program.task_id] > 1 else _fault(program)
        if fault:
            raise UserError(
                f"{str(path)!r}, program {program.task_id!r}: expected what can be asked, got a question file"
                f" that was changed: {fault}. Build it anew with `triathlon questions build`."
            )
    return questions


def _fault(program: ProgramQuestions) -> str:
    """Returns what is wrong with a program or its questions; empty where nothing is."""
    statements = [statement for asked in program.inputs for statement in asked.statements]
    lines = {line for each in statements for line in (each.line, *each.next_lines) if line != -1}
    sources = [program.program, program.test, *(asked.masked.replace("??", "_") for asked in program.inputs)]
    if any(parse_or_none(source) is None for source in sources):
        return "its code does not parse"
    if not lines <= set(range(1, len(program_lines(program.program)) + 1)):
        return "it has no such line as is asked about"
    positions = [asked.index for asked in program.inputs]
    return "two inputs have the same index" if len(set(positions)) < len(positions) else ""


# The words of a question

Style = Literal["direct", "cot"]
QuestionKind = Literal["coverage", "state", "path", "output"]
KINDS: Final[tuple[QuestionKind, ...]] = get_args(QuestionKind)
ABOUT_LINES: Final = KINDS[:3]
STYLES: Final[tuple[Style, ...]] = get_args(Style)

MAX_TOKENS: Final[dict[Style, int]] = {"direct": 256, "cot": 1024}
"""REval, section IV-D; the longest assertion of CRUXEval has 146 characters."""
PAPER_TEMPERATURE: Final = 0.8
PAPER_REPEATS: Final = 5

_LONG_CALL: Final = 200
"""Characters; a longer call is not repeated in the question."""
_THOUGHT: Final = re.compile(r"\[THOUGHT\].*?\[/THOUGHT\]\n?", re.DOTALL)
_QUESTION: Final = re.compile(r"\[QUESTION\](.*?)\[/QUESTION\]", re.DOTALL)
_DEMONSTRATION: Final = re.compile(r"(\[PYTHON\].*?\[/QUESTION\])\s*(.*?\[/ANSWER\])", re.DOTALL)


def line_text(program: str, line: int) -> str:
    """The text of a 1-based line; `-1` for no line."""
    return "-1" if line < 1 else program_lines(program)[line - 1].strip()


def sentence_of(question: str) -> str:
    """What is asked, without program and input: by it a record finds the question in its prompt."""
    return next(reversed(_QUESTION.findall(question)), UNTAGGED).strip()


def sampling(style: Style, temperature: float) -> Sampling:
    """How an instruct model is asked; the closing tag of the answer stops it."""
    return Sampling(max_tokens=MAX_TOKENS[style], temperature=temperature, stop=("[/ANSWER]",))


@dataclass(frozen=True, slots=True)
class Asker:
    """Renders questions in one style. A kind of question is what the names of its templates begin with."""

    prompts: PromptSet
    style: Style

    def question(
        self,
        kind: QuestionKind,
        program: ProgramQuestions,
        asked: InputQuestions,
        statement: StatementQuestion | None = None,
    ) -> str:
        """The question in its tags, with program and input; `statement` for all kinds but output."""
        text = program.program.strip("\n")
        if kind == "path":
            lines = program_lines(program.program.rstrip("\r\n"))
            text = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=1))
        run = "the call at the end is made"
        if program.test:
            run = "the test at the end runs"
        elif len(asked.text) <= _LONG_CALL:
            run = f"`{asked.text}` is called"
        values: dict[str, object] = {
            "program": text,
            "setup": "\n".join(f"# {line}" for line in asked.setup.splitlines()),
            "input": asked.masked if kind == "output" else asked.text,
            "run": run,
        }
        if statement is not None:
            values |= {
                "line": statement.line,
                "statement": line_text(program.program, statement.line),
                "variable": statement.variable,
            }
        return self.prompts.render(f"{kind}-question", **values)

    def prompt(self, kind: str, question: str, *, completes: bool) -> Chat | Completion:
        """A question in its tags behind the system line and the demonstrations of its kind.

        A model that `completes` (base models) continues a text; others answer messages.
        """
        system = self.prompts.render(f"{kind}-system")
        examples = self.prompts.render(f"{kind}-examples")
        if self.style == "direct":
            examples = _THOUGHT.sub("", examples)
        if completes:
            opening = "[ANSWER]" if self.style == "direct" else "[THOUGHT]"
            return Completion(f"{system}\n\n{examples.strip()}\n\n{question}\n{opening}\n")
        turns: list[Message] = []
        for shown, answer in _DEMONSTRATION.findall(examples):
            turns += [Message("user", shown), Message("assistant", answer)]
        return Chat((Message("system", system), *turns, Message("user", question)))

    def digest(self, *kinds: str) -> str:
        """Hash of the templates of some kinds of question."""
        names = (f"{kind}-{part}" for kind in kinds for part in ("system", "examples", "question"))
        return self.prompts.digest(*names)


# REval's own prompts: one text a question, as the authors' program fills their files

FIELDS: Final = ("code", "invocation", "invocation_abbr", "line", "codeline", "var")
_SETUP: Final = "\n# setup code executed previously\n"
_TEST: Final = "\n# Test code starts here. Only write the completed test code in your answer.\n"


class OfficialAsker(Asker):
    """Fills REval's files, which are by kind of question and of one style."""

    def question(
        self,
        kind: QuestionKind,
        program: ProgramQuestions,
        asked: InputQuestions,
        statement: StatementQuestion | None = None,
    ) -> str:
        """The whole text; `statement` for all kinds but output."""
        code, shown = program.program, asked.shown or asked.text
        if kind == "path" and not program.test:
            lines = enumerate(program_lines(code), start=1)
            code = "".join(f"{number}\t{line}\n" for number, line in lines)
        before = f"{_SETUP}# " + asked.setup.replace("\n", "\n# ") if asked.setup else ""
        if kind == "output":
            invocation = f"{before}{_TEST}{asked.masked}" if program.test else f"\n{asked.masked}"
        else:
            invocation = f"{before}\n{shown}" if program.test else shown
        return self.prompts.render(
            kind,
            code=code,
            invocation=invocation,
            invocation_abbr="the above test code" if program.test else shown,
            line=statement.line if statement else 0,
            codeline=program_lines(program.program)[statement.line - 1] if statement else "",
            var=statement.variable if statement else "",
        )

    def prompt(self, kind: str, question: str, *, completes: bool) -> Chat | Completion:  # noqa: ARG002
        """The text as one message, or as the beginning that a base model continues."""
        return Completion(question) if completes else Chat((Message("user", question),))

    def digest(self, *kinds: str) -> str:
        """Hash of the files of some kinds of question."""
        return self.prompts.digest(*kinds)


def official_asker(texts: dict[str, str], style: Style) -> OfficialAsker:
    """Returns what asks with REval's files of one style, by kind of question."""
    templates = {kind: template_of(text, {name: name for name in FIELDS}) for kind, text in texts.items()}
    return OfficialAsker(PromptSet("official", templates), style)
