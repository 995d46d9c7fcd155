"""Wrappers around a model: each passes questions on and adds one thing.

`ControlledModel` asks only while the run may; `UnitModel` notes whether a server answered; `OpenModel` puts a
row's settings over a suite's; `RestartingModel` repeats what was lost while a server restarted; `JudgeModel`
reports a judge that is lost.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from triathlon_runner.endpoints import (
    Answer,
    Chat,
    Completion,
    EndpointError,
    EndpointStats,
    Limits,
    Model,
    ModelKind,
    ModelUnavailableError,
    Sampling,
)
from triathlon_runner.schedule._stop import Control
from triathlon_runner.serving import Served, ServerLostError

RESTARTING_LIMITS = Limits(outage_seconds=math.inf, longest_wait=5.0, attempts=4)
"""No limit on an outage: a restart may take as long as a start. Few attempts, because after them the server
itself is checked."""
_UNANSWERED_IN_A_ROW = 10
"""Stop the model after this many questions in a row without an answer from a server that is healthy."""


class ModelWrapper:
    """Base of models that pass questions on to another one: has its id and kind. Subclasses add `ask`."""

    def __init__(self, inner: Model) -> None:
        """Wraps a model."""
        self._inner = inner

    @property
    def id(self) -> str:
        """Id of the row of models.yaml."""
        return self._inner.id

    @property
    def kind(self) -> ModelKind:
        """Instruct or base."""
        return self._inner.kind


class ControlledModel(ModelWrapper):
    """Implements `Model`; asks only while the run may."""

    def __init__(self, inner: Model, control: Control) -> None:
        """Puts a model under the control of a run."""
        super().__init__(inner)
        self._control = control

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once.

        Raises:
            RunStoppedError: the run stops before the request was sent.
            EndpointError: no answer after all retries.
        """
        async with self._control.call():
            return await self._inner.ask(prompt, sampling, sample=sample)


class UnitModel(ModelWrapper):
    """Implements `Model`; notes whether the server answered any question of one unit."""

    def __init__(self, inner: Model) -> None:
        """Nothing has been asked yet."""
        super().__init__(inner)
        self.server_answered = False

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once.

        Raises:
            EndpointError: no answer after all retries.
        """
        answer = await self._inner.ask(prompt, sampling, sample=sample)
        self.server_answered |= not answer.from_earlier_run
        return answer


class OpenModel(ModelWrapper):
    """Implements `Model`: a row's model that answers, asked with the row's own settings."""

    def __init__(
        self,
        inner: Model,
        *,
        served_by: str,
        served_model: str,
        slots: int,
        weights: str = "",
        stats: EndpointStats | None = None,
        temperature: Callable[[float], float] = float,
        max_tokens: int | None = None,
    ) -> None:
        """Puts a row's settings over the suites'.

        Args:
            inner: The model.
            served_by: `api` with its host, or the engine with version, precision and device.
            served_model: The model's name until its server has given one.
            slots: Requests that may be in flight.
            weights: What the server has loaded, as far as it is known: weights, quantisation, context.
            stats: Counters of the endpoint; None where the model has none.
            temperature: From a suite's temperature to the one that the model is asked at.
            max_tokens: The row's own token limit; None: the suites'.
        """
        super().__init__(inner)
        self.served_by = served_by
        self.served_model = served_model
        self.slots = slots
        self.weights = weights
        self.stats = stats
        self._temperature = temperature
        self._max_tokens = max_tokens

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once; remembers the name that the server gave.

        Raises:
            EndpointError: no answer after all retries.
        """
        changed = replace(
            sampling,
            temperature=self._temperature(sampling.temperature),
            max_tokens=sampling.max_tokens if self._max_tokens is None else self._max_tokens,
        )
        answer = await self._inner.ask(prompt, changed, sample=sample)
        self.served_model = answer.served_model
        return answer


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
        if self._failed < _UNANSWERED_IN_A_ROW:
            return error
        return ModelUnavailableError(
            f"its server answers when it is probed, but none of {self._failed} questions in a row; the last"
            f" error: {error}"
        )


class JudgeModel(ModelWrapper):
    """Implements `Model`; when the judge cannot be asked any more, reports that once."""

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
