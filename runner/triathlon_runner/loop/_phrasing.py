"""The two questions of a loop, as each kind of model is asked them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triathlon_runner.endpoints import Chat, Completion, Message, ModelKind, Sampling
from triathlon_runner.loop._setting import BASE_STOPS, Setting
from triathlon_runner.prompts import PromptSet


@dataclass(frozen=True, slots=True)
class Phrasing:
    """Questions for one kind of model. A base model completes two worked examples and the task."""

    kind: ModelKind
    prompts: PromptSet
    setting: Setting

    def generation(self, task: str, turn: int) -> Chat | Completion:
        """The question for a program. Every turn is a new question, even with an equal prompt."""
        return self._question(self._generate, turn, task=task)

    def summary(self, code: str, turn: int) -> Chat | Completion:
        """The question for the sentence that becomes the next prompt; a conversation of its own."""
        return self._question(self._summarise, turn, code=code)

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

    def settings(self) -> Mapping[str, Any]:
        """Returns the settings that are part of the suite's."""
        used = {self._generate, self._summarise} if self.setting.max_loops > 1 else {self._generate}
        sampling = self.generation_sampling
        return {
            "api": "completions" if self.completes else "chat",
            "prompts": {name: self.prompts.digest(name) for name in sorted(used)},
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": sampling.max_tokens,
            "stop": list(sampling.stop),
            "other_names": not self.setting.as_written,
            **({"as_written": True} if self.setting.as_written else {}),
        }

    @property
    def _generate(self) -> str:
        return "base-generate" if self.completes else "generate"

    @property
    def _summarise(self) -> str:
        style = self.setting.summary
        name = "summary" if style == "initial" else f"summary-{style}"
        return f"base-{name}" if self.completes else name

    def _question(self, template: str, turn: int, **values: str) -> Chat | Completion:
        text = self.prompts.render(template, **values)
        return Completion(text, turn) if self.completes else Chat((Message("user", text),), turn)
