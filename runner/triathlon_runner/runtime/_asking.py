"""From a question to what a model is shown, as figure 3 of the REval paper lays it out."""

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from triathlon_runner.endpoints import Chat, Completion, Message, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions, StatementQuestion

Style = Literal["direct", "cot"]
QuestionKind = Literal["coverage", "state", "path", "output"]
KINDS: Final[tuple[QuestionKind, ...]] = get_args(QuestionKind)
STYLES: Final[tuple[Style, ...]] = get_args(Style)

STOP: Final = ("[/ANSWER]",)
MAX_TOKENS: Final[dict[Style, int]] = {"direct": 256, "cot": 1024}
"""REval, section IV-D."""
PAPER_TEMPERATURE: Final = 0.8
PAPER_REPEATS: Final = 5

_LONG_CALL: Final = 200
"""Characters; a longer call is not repeated in the question."""
_THOUGHT: Final = re.compile(r"\[THOUGHT\].*?\[/THOUGHT\]\n?", re.DOTALL)
_QUESTION: Final = re.compile(r"\[QUESTION\](.*?)\[/QUESTION\]", re.DOTALL)
_DEMONSTRATION: Final = re.compile(r"(\[PYTHON\].*?\[/QUESTION\])\s*(.*?\[/ANSWER\])", re.DOTALL)


def sampling(style: Style, temperature: float) -> Sampling:
    return Sampling(max_tokens=MAX_TOKENS[style], temperature=temperature, stop=STOP)


def line_text(program: str, line: int) -> str:
    """The text of a 1-based line, as questions quote it and answers repeat it; `-1` for no line."""
    return "-1" if line < 1 else program.splitlines()[line - 1].strip()


@dataclass(frozen=True, slots=True)
class Asker:
    """Renders questions in one style."""

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
        values: dict[str, object] = {
            "program": _numbered(program.program) if kind == "path" else program.program.strip("\n"),
            "setup": "\n".join(f"# {line}" for line in asked.setup.splitlines()),
            "input": asked.masked if kind == "output" else asked.text,
            "run": _run(program, asked),
        }
        if statement is not None:
            values |= {
                "line": statement.line,
                "statement": line_text(program.program, statement.line),
                "variable": statement.variable,
            }
        return self.prompts.render(f"{kind}-question", **values)

    def prompt(self, kind: QuestionKind, question: str, *, completes: bool) -> Chat | Completion:
        """The question behind the system line and the demonstrations."""
        return with_demonstrations(self.prompts, kind, self.style, question, completes=completes)

    def digest(self) -> str:
        """Hash of the templates of all four questions: every suite of questions uses them all."""
        return self.prompts.digest(*(name for kind in KINDS for name in template_names(kind)))


def sentence_of(question: str) -> str:
    """What is asked, without program and input."""
    inside = _QUESTION.search(question)
    return inside[1].strip() if inside else question


def template_names(kind: str) -> tuple[str, ...]:
    """The templates of one kind of question."""
    return f"{kind}-system", f"{kind}-examples", f"{kind}-question"


def with_demonstrations(
    prompts: PromptSet, kind: str, style: Style, question: str, *, completes: bool
) -> Chat | Completion:
    """A question of some kind behind that kind's system line and demonstrations.

    Args:
        prompts: Holds `<kind>-system` and `<kind>-examples`.
        kind: What the templates' names begin with.
        style: Whether the demonstrations show their chain of thought.
        question: The question in its tags.
        completes: Whether the model continues a text (base models) or answers messages.
    """
    system = prompts.render(f"{kind}-system")
    examples = prompts.render(f"{kind}-examples")
    if style == "direct":
        examples = _THOUGHT.sub("", examples)
    if completes:
        opening = "[ANSWER]" if style == "direct" else "[THOUGHT]"
        return Completion(f"{system}\n\n{examples.strip()}\n\n{question}\n{opening}\n")
    turns: list[Message] = []
    for shown, answer in _DEMONSTRATION.findall(examples):
        turns += [Message("user", shown), Message("assistant", answer)]
    return Chat((Message("system", system), *turns, Message("user", question)))


def _numbered(program: str) -> str:
    lines = program.rstrip("\n").splitlines()
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, start=1))


def _run(program: ProgramQuestions, asked: InputQuestions) -> str:
    if program.test:
        return "the test at the end runs"
    return f"`{asked.text}` is called" if len(asked.text) <= _LONG_CALL else "the call at the end is made"
