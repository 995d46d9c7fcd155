"""The settings in which one loop protocol differs from another, and its questions for each kind of model."""

from dataclasses import dataclass
from typing import Final, Literal

from triathlon_runner.llm import Chat, Completion, Message, ModelKind, Sampling
from triathlon_runner.prompts import PromptSet

PAPER_LOOPS: Final = 10
"""M of EVALOOOP, section 3.6."""
MAX_TOKENS: Final = 1024
"""For either step (EVALOOOP, section 3.6)."""

Summary = Literal["initial", "detailed", "upper", "structured", "simplified", "redundant"]
Attack = Literal["upper", "structured", "redundant"]
BASE_STOPS: Final = ('\n"""', "\nif __name__", "\nprint(", "\nassert ")
"""Where a base model has left the function and begins another example; four, the most that APIs take."""


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


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The two questions of a loop. A base model completes two worked examples and the task."""

    kind: ModelKind
    prompts: PromptSet
    setting: Setting

    def generation(self, task: str, turn: int) -> Chat | Completion:
        """The question for a program."""
        return self._question("generate", turn, task=task)

    def summary(self, code: str, turn: int) -> Chat | Completion:
        """The question for the sentence that becomes the next prompt."""
        return self._question(self.setting.summary_template, turn, code=code)

    @property
    def generation_sampling(self) -> Sampling:
        return self.setting.sampling(*(BASE_STOPS if self.completes else ()))

    @property
    def summary_sampling(self) -> Sampling:
        return self.setting.sampling(*(("\n",) if self.completes else ()))

    @property
    def completes(self) -> bool:
        """Whether a reply continues the prompt instead of answering it."""
        return self.kind == "base"

    def _question(self, template: str, turn: int, **values: str) -> Chat | Completion:
        name = f"base-{template}" if self.completes else template
        return question(self.kind, self.prompts.render(name, **values), turn)
