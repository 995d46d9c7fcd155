"""What an HTTP error means, by the bodies that real servers send."""

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
    ("status", "body"),
    [
        (
            400,
            error("This model's maximum context length is 8192 tokens. However …", "context_length_exceeded"),
        ),
        (
            400,
            {
                "object": "error",
                "message": "This model's maximum context length is 2048 tokens.",
                "code": 400,
            },
        ),
        (400, error("'max_tokens' is too large: 1024. This model's maximum context length is 2048 tokens")),
        (400, error("the request exceeds the available context size", kind="exceed_context_size_error")),
        (400, error("prompt is too long: 210000 tokens > 200000 maximum", kind="invalid_request_error")),
        (400, [error("The input token count (40000) exceeds the maximum number of tokens allowed (32768).")]),
        (400, {"message": "Prompt contains 40000 tokens …, too large for model with 32768 maximum context"}),
    ],
)
def test_context_overflow(status: int, body: Any) -> None:
    """A question too long for the model is the model's own outcome, not an error."""
    assert judge(status, body) is Finish.CONTEXT_OVERFLOW


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, error("The response was filtered due to … content management policy.", "content_filter")),
        (400, error("Your request was rejected by our safety system.", "content_policy_violation")),
        (403, error("Your chosen model requires moderation and your input was flagged")),
        (400, error("Invalid prompt: your prompt was flagged …", "invalid_prompt")),
    ],
)
def test_refused(status: int, body: Any) -> None:
    """A provider's content filter is the model's outcome `refused`."""
    assert judge(status, body) is Finish.REFUSED


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (401, error("Incorrect API key provided", "invalid_api_key"), "$SOME_KEY"),
        (403, error("Country not supported", "unsupported_country"), "does not serve this region"),
        (
            404,
            error("The model `gpt-x` does not exist", "model_not_found"),
            "does not know the model 'gpt-x'",
        ),
        (400, error("gpt-x is not a valid model ID"), "does not know the model"),
        (404, "404 page not found", "127.0.0.1:1/v1"),
        (402, error("Insufficient Balance"), "quota"),
        (429, error("You exceeded your current quota", "insufficient_quota"), "quota"),
        (400, error("Your credit balance is too low to access the API"), "quota"),
        (
            400,
            error("Unsupported parameter: 'max_tokens' … Use 'max_completion_tokens'", None, "max_tokens"),
            "max_tokens_field: max_completion_tokens",
        ),
        (400, error("Unsupported value", "unsupported_value", "temperature"), "unsupported: [temperature]"),
        (422, {"detail": "Extra inputs are not permitted: seed"}, "unsupported: [seed]"),
        (400, error("`temperature` and `top_p` cannot both be specified"), "unsupported: [temperature]"),
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
