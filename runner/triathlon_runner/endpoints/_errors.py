"""Errors between question and answer, by how they are handled."""

from triathlon_runner.endpoints._api import Answer, EndpointError
from triathlon_runner.errors import UserError


class ModelUnavailableError(EndpointError):
    """No question to this model can succeed for now: the model stops, its units stay open.

    Bad key, no access, unknown model, quota used up, a setting that the provider refuses. Where the server
    only does not answer, the error is a `ServerUnreachableError`.
    """


class ServerUnreachableError(ModelUnavailableError):
    """The server could not be reached, or asked for a longer wait than is allowed; it may answer later.

    Nothing in the model's row need be changed: the run tries the model once more at its end.
    """


class UnexplainedError(EndpointError):
    """A 4xx reply that no rule explains: this question fails, others may not."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class CacheError(UserError):
    """The cache of replies cannot be opened or written."""


class Retryable(Exception):  # noqa: N818  an internal signal that never leaves this package
    """An attempt at a question failed; another one may succeed."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        """Seconds that the server asked us to wait."""
        self.server_is_down = False
        """Whether the server answers no request at all now; the try does not count against this question."""


class Throttled(Retryable):
    """429: the server wants fewer requests."""


class Unreachable(Retryable):
    """No connection, or it broke before the reply was whole."""

    was_connected = False
    """Whether a connection to the server was made, now or before: then something listens there."""


class LostReply(Unreachable):
    """The request was sent, but its reply did not come, or not whole: the server may charge for it."""


class NeverReachable(Unreachable):
    """No try can reach the server: no such host, a certificate that is not trusted, a proxy that refuses."""

    def __init__(self, reason: str, *, is_temporary: bool = False) -> None:
        super().__init__(reason)
        self.is_temporary = is_temporary
        """Whether it may be there later: this machine's network or name service is down."""


class Malformed(Retryable):
    """A reply that is no answer: not JSON, no choices, another model's name."""


class OtherModel(Malformed):
    """A reply in another model's name."""


class NullContent(Retryable):
    """A whole reply without any content; after several of them it is the model's answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("a reply without content")
        self.answer = answer
        """The answer with the empty reply, for when it counts."""
