"""A stand-in for a model: in memory, without HTTP."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from triathlon_runner.llm import Answer, Chat, Completion, Sampling
from triathlon_runner.records import Reply, Usage


@dataclass
class FakeModel:
    """Answers by a function of the question's text; an exception in its place is raised."""

    say: Callable[[str], str | Reply | Exception]
    kind: Literal["instruct", "base"] = "instruct"
    id: str = "fake"
    asked: list[tuple[Chat | Completion, Sampling, int]] = field(default_factory=list)

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        self.asked.append((prompt, sampling, sample))
        said = self.say(text_of(prompt))
        if isinstance(said, Exception):
            raise said
        reply = Reply(text=said) if isinstance(said, str) else said
        return Answer(reply, Usage(requests=1, input_tokens=10, output_tokens=5), 0.0, "fake")

    @property
    def texts(self) -> list[str]:
        return [text_of(prompt) for prompt, _, _ in self.asked]


def text_of(prompt: Chat | Completion) -> str:
    return prompt.text if isinstance(prompt, Completion) else prompt.messages[-1].content
