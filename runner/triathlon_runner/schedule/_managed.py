"""A model whose server somebody starts again: questions wait for that, and not for a time to be up."""

import math
from typing import Literal

from triathlon_runner.endpoints import (
    Answer,
    Chat,
    Completion,
    EndpointError,
    EndpointStats,
    Limits,
    ModelUnavailableError,
    OpenAIModel,
    Sampling,
)
from triathlon_runner.serving import Served, ServerLostError

LIMITS = Limits(outage_seconds=math.inf, longest_wait=5.0, attempts=4)
"""Silence alone says nothing about such a server: a restart may take as long as its start. Few tries, since
behind them its manager is asked."""
_GIVEN_UP = 10
"""So many questions in a row without an answer, by a server that is well, stop the model."""


class ManagedModel:
    """Implements `Model`. What failed while its server was down is asked again once that is up."""

    def __init__(self, inner: OpenAIModel, server: Served) -> None:
        self._inner, self._server = inner, server
        self._failed = 0

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def kind(self) -> Literal["instruct", "base"]:
        return self._inner.kind

    @property
    def stats(self) -> EndpointStats:
        """Counters of the endpoint."""
        return self._inner.stats

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
                    raise self._judged(error) from None
            else:
                self._failed = 0
                return answer

    async def _restarted(self, since: int) -> bool:
        """Whether the server was, or now is, started again; whoever manages it decides, not a time."""
        try:
            await self._server.ensure()
        except ServerLostError as lost:
            raise ModelUnavailableError(str(lost)) from None
        return self._server.starts != since

    def _judged(self, error: EndpointError) -> EndpointError:
        """The error of a question, or of the model where one question after another fails."""
        self._failed += 1
        if self._failed < _GIVEN_UP:
            return error
        return ModelUnavailableError(
            f"its server answers when it is probed, but none of {self._failed} questions in a row; the last"
            f" error: {error}"
        )
