"""The settings in which one loop protocol differs from another, its questions, and the prompts p^1, p^2, ….

A prompt is the data set's own, an attacked form of it, or what a model wrote itself.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import dedent, indent
from typing import Final, Literal

from triathlon_runner.datasets import FunctionProblem
from triathlon_runner.llm import Chat, Completion, Message, ModelKind, Sampling
from triathlon_runner.prompts import PromptSet, load_prompts, template_of
from triathlon_runner.replies import code_blocks, final_answer, is_definition, visible_text

PAPER_LOOPS: Final = 10
"""M of EVALOOOP, section 3.6."""
MAX_TOKENS: Final = 1024
"""For either step (EVALOOOP, section 3.6)."""
BASE_STOPS: Final = ('\n"""', "\nif __name__", "\nprint(", "\nassert ")
"""Where a base model has left the function and begins another example; four, the most that APIs take."""

Summary = Literal["initial", "detailed", "upper", "structured", "simplified", "redundant"]
Attack = Literal["upper", "structured", "redundant"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What distinguishes one protocol from another on the same data; the numbers are the paper's."""

    max_loops: int = PAPER_LOOPS
    temperature: float = 0.0
    summary: Summary = "initial"
    """Which of six summary prompts: those of EVALOOOP, listing 3.2, all but the first in our wording."""
    attack: Attack | None = None
    """The change made to the first prompt: those of EVALOOOP, listing 3.1, in our wording."""
    as_written: bool = False
    """Whether programs and summaries count as the model wrote them, as in the paper's own runs.

    Of a reply only prose, fences and reasoning are removed: self-tests behind the function run with it, its
    one function is not found under another name, and an empty summary leaves the assertion as the prompt.
    """

    @property
    def summary_template(self) -> str:
        """Name of the summary prompt of an instruct model."""
        return "summary" if self.summary == "initial" else f"summary-{self.summary}"

    @property
    def templates(self) -> list[str]:
        """Names of the templates that models of either kind are asked with."""
        for_instruct = ["generate", *([self.summary_template] if self.max_loops > 1 else [])]
        attack = [f"attack-{self.attack}"] if self.attack in ("structured", "redundant") else []
        return [*for_instruct, *(f"base-{name}" for name in for_instruct), *attack]

    def sampling(self, *stop: str) -> Sampling:
        """Decoding settings of both steps."""
        return Sampling(max_tokens=MAX_TOKENS, temperature=self.temperature, top_p=1.0, stop=stop)


def question(kind: ModelKind, text: str, turn: int) -> Chat | Completion:
    """A prompt as this kind of model is asked it; every turn is a new conversation, whatever was asked."""
    return Completion(text, turn) if kind == "base" else Chat((Message("user", text),), turn)


_EXAMPLES = re.compile(r"^[ \t]*(>>>|assert\b|(for )?examples?\b|input\b)", re.MULTILINE | re.IGNORECASE)
_DOCSTRING = re.compile(r"(\"\"\"|''')(.*?)\1", re.DOTALL)
_OFFICIAL_VALUES: Final = {
    "description": "task",
    "code": "code",
    "prompt1": "first_prompt",
    "code1": "first_program",
    "prompt2": "second_prompt",
    "code2": "second_program",
}
"""By the names in EVALOOOP's files, those that our templates have for the same values."""
_QUOTES = (('"', '"'), ("'", "'"), ("“", "”"), ("`", "`"))


def with_official(prompts: PromptSet, texts: Mapping[str, str]) -> PromptSet:
    """Returns the prompts with the authors' in place of ours; those that a user replaced stay the user's."""
    ours = load_prompts("loop").templates
    official = {
        name: template_of(text, _OFFICIAL_VALUES)
        for name, text in texts.items()
        if prompts.templates[name] == ours[name]
    }
    return PromptSet(prompts.name, {**prompts.templates, **official})


def first_prompt(problem: FunctionProblem, attack: Attack | None, prompts: PromptSet) -> str:
    """p^1: the data set's prompt, or its attacked form (EVALOOOP, listing 3.1).

    The words of the prompt's last docstring are attacked, down to its examples; without one nothing is.
    """
    prompt, docstrings = problem.prompt, list(_DOCSTRING.finditer(problem.prompt))
    if attack is None or not docstrings:
        return prompt
    docstring = docstrings[-1]
    quotes, line = docstring[1], prompt[prompt.rfind("\n", 0, docstring.start()) + 1 :]
    margin = line[: len(line) - len(line.lstrip(" \t"))]
    text = dedent(margin + docstring[2].lstrip("\n"))
    first_example = _EXAMPLES.search(text)
    cut = first_example.start() if first_example else len(text)
    description, examples = text[:cut].strip(), text[cut:].strip("\n").rstrip()
    if attack == "upper":
        changed = f"{description.upper()}\n{examples}" if examples else description.upper()
    else:
        changed = prompts.render(f"attack-{attack}", description=description, examples=examples)
    before, after = prompt[: docstring.start()], prompt[docstring.end() :]
    return f"{before}{quotes}\n{indent(changed, margin)}\n{margin}{quotes}{after}"


def next_prompt(sentence: str, assertion: str, *, as_written: bool = False) -> str:
    """p^(j+1): the model's own sentence and the assertion that fixes name and signature, as a docstring.

    `as_written`: nothing is left out, even where the summary is empty or has the assertion already; the
    paper's recordings have this form.
    """
    if as_written:
        return f'"""\n{sentence}\n{assertion}\n"""\n'
    body = sentence.removesuffix(assertion).rstrip()
    return '"""\n' + "\n".join(part for part in (body, assertion) if part) + '\n"""\n'


def program_part(prompt: str) -> str:
    """The part of a prompt that a program can continue: empty where the prompt is only a docstring."""
    text = prompt.strip()
    docstring = _DOCSTRING.match(text)
    return "" if docstring is not None and docstring.end() == len(text) else prompt


def summary_in(text: str, *, completes: bool, as_written: bool) -> tuple[str, bool]:
    """Returns the summary in a reply, and whether a program with a body stands in its place.

    That is its text without reasoning and without fences or quotes around all of it; of a base model
    (`completes`), which goes on with other examples, the first line. `as_written`: fences and quotes stay.
    """
    sentence = visible_text(text).strip()
    forms = [sentence]
    if completes:
        forms = [sentence := sentence.partition("\n")[0].strip()]
    elif not as_written:
        forms.append(sentence := _without_wrapping(final_answer(sentence).strip()))
    return sentence, any(map(_is_program, forms))


def _is_program(text: str) -> bool:
    blocks = code_blocks(text)
    is_block = len(blocks) == 1 and text.startswith(("```", "~~~"))
    return is_definition(blocks[0].code if is_block else text)


def _without_wrapping(sentence: str) -> str:
    blocks = code_blocks(sentence)
    if len(blocks) == 1 and sentence.startswith("```") and sentence.endswith("```"):
        sentence = blocks[0].code.strip()
    sentence = sentence.removeprefix('"""').removesuffix('"""').strip()
    for left, right in _QUOTES:
        inner = sentence[1:-1]
        if len(sentence) > 1 and sentence[0] == left and sentence[-1] == right and left not in inner:
            return inner.strip()
    return sentence
