"""Words questions as figure 3 of the REval paper lays them out, or with REval's own files."""

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from triathlon_runner.llm import Chat, Completion, Message, Sampling
from triathlon_runner.prompts import PromptSet, template_of
from triathlon_runner.records import UNTAGGED
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions, StatementQuestion

Style = Literal["direct", "cot"]
QuestionKind = Literal["coverage", "state", "path", "output"]
KINDS: Final[tuple[QuestionKind, ...]] = get_args(QuestionKind)
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
    """The text of a 1-based line, as questions quote it and answers repeat it; `-1` for no line."""
    return "-1" if line < 1 else program.splitlines()[line - 1].strip()


def sentence_of(question: str) -> str:
    """What is asked, without program and input: by it a record finds the question in its prompt."""
    inside = _QUESTION.findall(question)
    return str(inside[-1]).strip() if inside else UNTAGGED


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
            lines = program.program.rstrip("\n").splitlines()
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
            lines = enumerate(code.split("\n"), start=1)
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
            codeline=program.program.split("\n")[statement.line - 1] if statement else "",
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
    values = dict(zip(FIELDS, FIELDS, strict=True))
    templates = {kind: template_of(text, values) for kind, text in texts.items()}
    return OfficialAsker(PromptSet("official", templates), style)
