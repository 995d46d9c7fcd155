"""The LLM judge: asked beside all models; when it is lost, no model's run ends."""

from collections.abc import Callable

from triathlon_runner.endpoints import Answer, Chat, Completion, Model, ModelUnavailableError, Sampling
from triathlon_runner.schedule._wrapper import ModelWrapper


class JudgeModel(ModelWrapper):
    """Implements `Model`; when the judge cannot be asked any more, says so once, in its name."""

    def __init__(self, inner: Model, say: Callable[[str], None]) -> None:
        """`say` shows one line."""
        super().__init__(inner)
        self._say = say
        self.lost = ""
        """That it is lost and why, in a sentence; empty while it answers."""

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
