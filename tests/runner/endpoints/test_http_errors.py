"""What an HTTP error means, whoever sends it; what single providers send: `test_provider_errors.py`."""

import json
from typing import Any

import pytest

from triathlon_runner.endpoints import ApiConfig, EndpointError, ModelUnavailableError
from triathlon_runner.endpoints._api import Retryable, Throttled
from triathlon_runner.endpoints._http_errors import classify_http_error, read_failure
from triathlon_runner.records import Finish

CONFIG = ApiConfig(base_url="http://127.0.0.1:1/v1", model="gpt-x", key_env="SOME_KEY")


def judge(status: int, body: Any, headers: dict[str, str] | None = None) -> Finish:
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return classify_http_error(read_failure(status, raw, headers or {}), CONFIG)


def error(message: str, code: str | None = None, param: str | None = None, kind: str | None = None) -> Any:
    return {"error": {"message": message, "code": code, "param": param, "type": kind}}


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (404, "404 page not found", "127.0.0.1:1/v1"),
        (422, {"detail": "Extra inputs are not permitted: seed"}, "unsupported: [seed]"),
        (400, error("Too many stop sequences", param="stop"), "max_stop_sequences"),
    ],
)
def test_stops_the_model(status: int, body: Any, says: str) -> None:
    """What no other question can cure stops the model, and says what to do about it."""
    with pytest.raises(ModelUnavailableError) as caught:
        judge(status, body)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("status", "body", "headers", "wait"),
    [
        (429, error("Rate limit reached", "rate_limit_exceeded"), {"retry-after": "7"}, 7.0),
        (429, error("Rate limit reached. Please try again in 20s."), {}, 20.0),
        (429, [{"error": {"code": 429, "message": "quota", "details": [{"retryDelay": "21s"}]}}], {}, 21.0),
        (429, "", {}, None),
    ],
)
def test_throttled(status: int, body: Any, headers: dict[str, str], wait: float | None) -> None:
    """429 is throttling, with the wait that header or body name."""
    with pytest.raises(Throttled) as caught:
        judge(status, body, headers)
    assert caught.value.retry_after == wait


def test_an_error_nested_too_deeply_is_a_text() -> None:
    """A hundred thousand brackets are no JSON that can be read, and no error of this program."""
    with pytest.raises(Retryable):
        judge(502, "[" * 100_000)


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 520, 529])
def test_tried_again(status: int) -> None:
    """Time-outs, conflicts and server errors are tried again, and are no throttling."""
    with pytest.raises(Retryable) as caught:
        judge(status, "<html>oops</html>", {"retry-after": "3"})
    assert not isinstance(caught.value, Throttled)
    assert caught.value.retry_after == 3.0


def test_other_refusals_concern_the_question_only() -> None:
    """A 400 that nothing explains leaves the unit open and the model running."""
    with pytest.raises(EndpointError) as caught:
        judge(400, error("Something odd"))
    assert not isinstance(caught.value, ModelUnavailableError)
    assert "400" in str(caught.value) and "Something odd" in str(caught.value)


def test_long_pages_are_shortened() -> None:
    """An HTML page of megabytes does not become the message."""
    with pytest.raises(Retryable) as caught:
        judge(502, "<html>" + "x" * 1_000_000)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("status", "body", "said", "advice"),
    [
        (413, error("Request too large"), "the server answered 413: 'Request too large'; ", "`max_tokens`"),
        (400, error("Payload too large"), "the server answered 400: 'Payload too large'; ", "`max_tokens`"),
        (400, error("no luck"), "the server answered 400: 'no luck'; ", "ask who runs the server"),
        (400, "", "the server answered 400 and gave no reason; ", "ask who runs the server"),
        (
            429,
            error("Request too large for m on tokens per min"),
            "larger than the provider's",
            "`max_tokens`",
        ),
    ],
)
def test_unexplained_errors_say_what_to_do(status: int, body: Any, said: str, advice: str) -> None:
    """The server's words stand there once, followed by what to do."""
    with pytest.raises(EndpointError) as caught:
        judge(status, body)
    assert said in str(caught.value) and advice in str(caught.value)
    assert str(caught.value).endswith("the next run asks again")
