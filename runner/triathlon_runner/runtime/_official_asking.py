"""REval's own prompts: one text a question, as the authors' program fills their files."""

from dataclasses import dataclass
from typing import Final

from triathlon_runner.llm import Chat, Completion, Message
from triathlon_runner.prompts import PromptSet, template_of
from triathlon_runner.runtime._asking import QuestionKind, Style
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions, StatementQuestion

FIELDS: Final = ("code", "invocation", "invocation_abbr", "line", "codeline", "var")
_SETUP: Final = "\n# setup code executed previously\n"
_TEST: Final = "\n# Test code starts here. Only write the completed test code in your answer.\n"


@dataclass(frozen=True, slots=True)
class OfficialAsker:
    """Fills REval's files; has the methods of `Asker`."""

    prompts: PromptSet
    """By kind of question, of one style."""
    style: Style

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

    def prompt(self, _kind: str, question: str, *, completes: bool) -> Chat | Completion:
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
