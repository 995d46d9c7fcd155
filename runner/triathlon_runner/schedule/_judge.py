"""The judge of similarities: a model beside all others, which may be lost without ending any of them."""

from collections.abc import Callable
from typing import Literal

from triathlon_runner.endpoints import Answer, Chat, Completion, Model, ModelUnavailableError, Sampling


class JudgeModel:
    """Implements `Model`; says once, in the judge's name, that it cannot be asked any more."""

    def __init__(self, inner: Model, say: Callable[[str], None]) -> None:
        """`say` shows one line."""
        self._inner, self._say = inner, say
        self.lost = ""
        """That it is lost and why, in a sentence; empty while it answers."""

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def kind(self) -> Literal["instruct", "base"]:
        return self._inner.kind

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once.

        Raises:
            ModelUnavailableError: no question to the judge can succeed for now.
            EndpointError: no answer to this one after all retries.
        """
        try:
            return await self._inner.ask(prompt, sampling, sample=sample)
        except ModelUnavailableError as error:
            if not self.lost:
                self.lost = (
                    f"the judge {self.id} cannot be asked any more: {error}; the similarities that it would"
                    " give are unknown, so ASL is an interval"
                )
                self._say(self.lost)
            raise
