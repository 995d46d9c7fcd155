"""Model wrapper that repeats questions that were lost while its server restarted."""

import math

from triathlon_runner.endpoints import (
    Answer,
    Chat,
    Completion,
    EndpointError,
    Limits,
    Model,
    ModelUnavailableError,
    Sampling,
)
from triathlon_runner.schedule._wrapper import ModelWrapper
from triathlon_runner.serving import Served, ServerLostError

LIMITS = Limits(outage_seconds=math.inf, longest_wait=5.0, attempts=4)
"""No limit on an outage: a restart may take as long as a start. Few attempts, because after them the server
itself is checked."""
_GIVEN_UP = 10
"""Stop the model after this many questions in a row without an answer from a server that is healthy."""


class RestartingModel(ModelWrapper):
    """Implements `Model`. What failed while its server was down is asked again once that is up."""

    def __init__(self, inner: Model, server: Served) -> None:
        """Wraps the model that a server answers for; `server` restarts itself where it died."""
        super().__init__(inner)
        self._server = server
        self._failed = 0

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once.

        Raises:
            EndpointError: no answer after all retries, by a server that has been up all the time.
            ModelUnavailableError: the server is given up, or nothing can be asked of it.
        """
        while True:
            starts = self._server.starts
            try:
                answer = await self._inner.ask(prompt, sampling, sample=sample)
            except ModelUnavailableError:
                raise
            except EndpointError as error:
                if not await self._restarted(since=starts):
                    raise self._counted(error) from None
            else:
                self._failed = 0
                return answer

    async def _restarted(self, since: int) -> bool:
        """Returns whether the server was restarted since, or is now; the server decides, not a time limit."""
        try:
            await self._server.ensure()
        except ServerLostError as lost:
            raise ModelUnavailableError(str(lost)) from None
        return self._server.starts != since

    def _counted(self, error: EndpointError) -> EndpointError:
        """Returns the error of a question, or of the model where one question after another fails."""
        self._failed += 1
        if self._failed < _GIVEN_UP:
            return error
        return ModelUnavailableError(
            f"its server answers when it is probed, but none of {self._failed} questions in a row; the last"
            f" error: {error}"
        )
