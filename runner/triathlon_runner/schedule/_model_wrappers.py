"""Wrappers around a model: each passes questions on and adds one thing.

`ControlledModel` asks only while the run may; `JudgeModel` also reports a judge that is lost; `OpenModel`
puts a row's settings over a suite's; `RestartingModel` repeats what was lost while a server restarted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from triathlon_runner.llm import (
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
from triathlon_runner.serving import Server, ServerLostError

RESTARTING_LIMITS = Limits(outage_seconds=math.inf, longest_wait=5.0, attempts=4)
"""No limit on an outage: a restart may take as long as a start. Few attempts, because after them the server
itself is checked."""
LONGEST_REPLY_SECONDS = 6 * 3600.0
"""A server of ours is watched, so a slow one is waited for: a CPU may write long replies for hours."""
_UNANSWERED_IN_A_ROW = 10
"""Stop the model after this many questions in a row without an answer from a server that is healthy."""


class _Wrapper:
    """Has the id and kind of the model that it passes questions on to."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    @property
    def id(self) -> str:
        return self._inner.id

    @property
    def kind(self) -> ModelKind:
        return self._inner.kind


class ControlledModel(_Wrapper):
    """Implements `Model`; asks only while the run may, and notes whether the server answered anything."""

    def __init__(self, inner: Model, control: Control) -> None:
        """Puts a model under the control of a run."""
        super().__init__(inner)
        self._control = control
        self.server_answered = False

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once.

        Raises:
            RunStoppedError: the run stops before the request was sent.
            EndpointError: no answer after all retries.
        """
        async with self._control.call():
            answer = await self._inner.ask(prompt, sampling, sample=sample)
        self.server_answered |= not answer.from_earlier_run
        return answer


class JudgeModel(ControlledModel):
    """Implements `Model`; when the judge cannot be asked any more, reports that once."""

    def __init__(self, inner: Model, control: Control, say: Callable[[str], None]) -> None:
        """`say` shows one line."""
        super().__init__(inner, control)
        self._say = say
        self.lost = ""
        """That it is lost and why, in a sentence; empty while it answers."""

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once; raises what `ControlledModel.ask` raises."""
        try:
            return await super().ask(prompt, sampling, sample=sample)
        except ModelUnavailableError as error:
            if not self.lost:
                self.lost = (
                    f"the judge {self.id} cannot be asked any more: {error}; the similarities that it would"
                    " give are unknown, so ASL is an interval"
                )
                self._say(self.lost)
            raise


@dataclass(slots=True)
class OpenModel:
    """Implements `Model`: a row's model that answers, asked with the row's own settings."""

    inner: Model
    served_by: str
    """`api` with its host, or the engine with version, precision and device."""
    served_model: str
    """The model's name until its server has given one."""
    slots: int
    """Requests that may be in flight."""
    weights: str = ""
    """What the server has loaded, as far as it is known: weights, quantisation, context."""
    stats: EndpointStats | None = None
    """Counters of the endpoint; None where the model has none."""
    scrub_evidence: Callable[[str], str] = str
    """Removes the model's keys from a text of a result."""
    temperature: Callable[[float], float] = float
    """From a suite's temperature to the one that the model is asked at."""
    max_tokens: int | None = None
    """The row's own token limit; None: the suites'."""

    @property
    def id(self) -> str:
        return self.inner.id

    @property
    def kind(self) -> ModelKind:
        return self.inner.kind

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Asks once, and remembers the name that the server gave; raises EndpointError."""
        changed = replace(
            sampling,
            temperature=self.temperature(sampling.temperature),
            max_tokens=sampling.max_tokens if self.max_tokens is None else self.max_tokens,
        )
        answer = await self.inner.ask(prompt, changed, sample=sample)
        self.served_model = answer.served_model
        return answer


class RestartingModel(_Wrapper):
    """Implements `Model`. What failed while its server was down is asked again once that is up."""

    def __init__(self, inner: Model, server: Server) -> None:
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
                try:
                    await self._server.ensure()
                except ServerLostError as lost:
                    raise ModelUnavailableError(str(lost)) from None
                if self._server.starts == starts:
                    raise self._counted(error) from None
            else:
                self._failed = 0
                return answer

    def _counted(self, error: EndpointError) -> EndpointError:
        """Returns the error of a question, or of the model where one question after another fails."""
        self._failed += 1
        if self._failed < _UNANSWERED_IN_A_ROW:
            return error
        return ModelUnavailableError(
            f"its server answers when it is probed, but none of {self._failed} questions in a row; the last"
            f" error: {error}"
        )
