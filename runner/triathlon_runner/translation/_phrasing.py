"""How the question for a translation is put to a model of each kind."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from triathlon_runner import loop
from triathlon_runner.endpoints import Chat, Completion, ModelKind, Sampling
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Outcome, Reply
from triathlon_runner.sandbox import Language
from triathlon_runner.translation._extract import END_OF_EXAMPLE, continued, translated
from triathlon_runner.translation._languages import TITLES
from triathlon_runner.translation._task import TranslationTask

SAMPLING: Final = Sampling(max_tokens=1024)
"""As for either step of the loop (EVALOOOP, section 3.6)."""
BASE_STOP: Final = (END_OF_EXAMPLE,)


@dataclass(frozen=True, slots=True)
class Phrasing:
    """A base model completes one worked example and the beginning of the function."""

    kind: ModelKind
    prompts: PromptSet

    @property
    def sampling(self) -> Sampling:
        return replace(SAMPLING, stop=BASE_STOP) if self.kind == "base" else SAMPLING

    def question(
        self, code: str, source: Language, target: Language, task: TranslationTask, turn: int
    ) -> Chat | Completion:
        """Asks for the program in the next language; a conversation of its own."""
        values = {
            "source": TITLES[source],
            "target": TITLES[target],
            "source_label": source.value,
            "target_label": target.value,
            "code": code.strip("\n"),
            "opening": task.opening(target).rstrip("\n"),
        }
        if self.kind == "instruct":
            return loop.question(self.kind, self.prompts.render("translate", **values), turn)
        examples = {
            f"example_in_{role}": self.prompts.render(f"example-{language.value}").strip("\n")
            for role, language in (("source", source), ("target", target))
        }
        text = self.prompts.render("base-translate", **values, **examples) + "\n"
        return loop.question(self.kind, text, turn)

    def program(self, reply: Reply, target: Language, task: TranslationTask) -> tuple[str, Outcome | None]:
        """What is to be executed, or the outcome that says why there is nothing."""
        if self.kind == "base":
            return continued(reply, task.opening(target))
        return translated(reply, target, task.name(target))

    def settings(self) -> Mapping[str, Any]:
        """Returns the settings that shape a result."""
        with_examples = {"base-translate", *(f"example-{language.value}" for language in Language)}
        names = with_examples if self.kind == "base" else {"translate"}
        return loop.settings_of_questions(self.kind, self.prompts, names, self.sampling)
