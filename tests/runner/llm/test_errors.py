"""What error replies mean: the recorded texts of known servers, and of lengths the numbers in them."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.case_files import rows
from triathlon_runner.llm import Chat, EndpointError, Message, ModelUnavailableError, OpenAI, Sampling
from triathlon_runner.llm._api import Retryable, Throttled
from triathlon_runner.llm._errors import classify, read_failure
from triathlon_runner.llm.provider import HttpReply

HERE = Path(__file__).parent
PUBLIC = OpenAI(base_url="https://api.example.com/v1", model="m", key_env="SOME_KEY")
LOCAL = OpenAI(base_url="http://127.0.0.1:1/v1", model="m")
BARE = OpenAI(base_url="http://127.0.0.1:1", model="m")


def meaning(
    status: int,
    body: Any,
    config: OpenAI = PUBLIC,
    context: int | None = None,
    headers: dict[str, str] | None = None,
) -> str:
    """Returns the outcome's name, `stop: why`, `throttled`, `again` or `question: why`."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    request = config.request(Chat((Message("user", "q"),)), Sampling(4096))
    try:
        return classify(read_failure(HttpReply(status, raw, headers or {})), config, request, context).value
    except Throttled as error:
        return f"throttled {error.retry_after}"
    except Retryable as error:
        return f"again: {error}"
    except ModelUnavailableError as error:
        return f"stop: {error}"
    except EndpointError as error:
        return f"question: {error}"


@pytest.mark.parametrize(
    "row", rows(HERE / "errors.csv"), ids=lambda row: f"{row['status']}-{row['message']}"
)
def test_what_servers_say(row: dict[str, str]) -> None:
    """Only a refusal of this request's content is an outcome; what no question can cure stops the model."""
    error = {name: row[name] or None for name in ("message", "code", "param")}
    assert row["means"] in meaning(int(row["status"]), {"error": {**error, "message": row["message"]}})


@pytest.mark.parametrize("status", [408, 409, 424, 425, 498, 499, 500, 502, 503, 504, 520, 529])
def test_tried_again(status: int) -> None:
    """Time-outs, conflicts and server errors are tried again; a page of megabytes is no message of one."""
    assert len(meaning(status, "<html>" + "x" * 1_000_000)) < 1000
    assert meaning(status, "[" * 100_000).startswith("again")


PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
N_CTX = {"message": "the request exceeds the available context size", "n_prompt_tokens": 5000, "n_ctx": 512}
ODD_ERRORS = [
    # status, body, meaning
    (202, "", "again: 202, the server gave no reason"),
    (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}, "nothing there: is the path"),
    (429, {"error": {"message": "Please retry in 37.59s.", "details": [PER_DAY]}}, "used up"),
    (200, {"error": "Insufficient balance"}, "used up"),
    (402, {"error": None, "message": "Top up."}, "the server said 'Top up.'"),
    (200, {"detail": "The model m does not exist."}, "does not know the model"),
    (200, {"error": {"message": "You have run out of credits"}}, "used up"),
    (200, {"error": {"message": "slow down", "code": 429}}, "throttled"),
    (
        200,
        {"object": "error", "message": "The model `m` does not exist.", "code": 404},
        "does not know the model",
    ),
    (200, {"code": 401, "msg": "token expired"}, "stop: the key"),
    (200, {"error": {"message": "rate limit, add credits"}}, "again: 200, the server said 'rate limit"),
    (200, {"error": {"message": "upstream", "code": 502}}, "again: 502, the server said 'upstream'"),
    (200, [{"error": {"message": "API key not valid.", "status": "INVALID_ARGUMENT"}}], "stop: the key"),
    (400, "x" * 300, f"the server said '{'x' * 300}';"),
    (400, "x" * 301, f"the server said '{'x' * 300}…';"),
]


@pytest.mark.parametrize(("status", "body", "means"), ODD_ERRORS, ids=lambda value: str(value)[:40])
def test_odd_errors(status: int, body: Any, means: str) -> None:
    """An error in a good reply means what its words say; of an error page 300 characters are quoted."""
    assert means in meaning(status, body)


def test_advice() -> None:
    """A path without /v1 suggests it; a redirect shows scheme and host; a model without a key is told how."""
    assert "try 'http://127.0.0.1:1/v1'" in meaning(404, "", BARE)
    assert "a request without a key was not accepted" in meaning(401, "", BARE)
    assert "`key_env: NAME`" in meaning(401, "", BARE)
    moved = meaning(301, "", headers={"location": "https://u:p@evil.example/?key=a%2Fb"})
    for host in ("127.0.0.1", "192.168.1.7", "100.64.0.7", "box.tail1.ts.net"):
        own = LOCAL.model_copy(update={"base_url": f"http://{host}:1/v1"})
        assert "context of 512 tokens" in meaning(400, {"error": N_CTX}, own), "llama.cpp's own fields"
    assert "'https://evil.example'" in moved and "a%2Fb" not in moved and "u:p" not in moved


@pytest.mark.parametrize(
    ("headers", "text", "wait"),
    [
        ({"retry-after": "7"}, "", "7.0"),
        ({}, "Rate limit reached. Please try again in 1m20.5s.", "80.5"),
        ({}, '{"error": {"details": [{"retryDelay": "21s"}]}}', "21.0"),
        ({}, "Please retry after 9 seconds.", "9.0"),
        ({}, "Try again in 1 minute.", "60.0"),
        ({}, "Rate limit exceeded. Please wait 41123 seconds before retrying.", "41123.0"),
        ({}, "Try again in 250 milliseconds.", "None"),
        ({"retry-after": "Sat, 01 Jan 2050 00:00:30 GMT", "date": "Sat, 01 Jan 2050 00:00 GMT"}, "", "30.0"),
        ({}, "", "None"),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], text: str, wait: str) -> None:
    """The wait stands in a header or in the text; a moment is one of the server's clock."""
    assert meaning(429, text, headers=headers) == f"throttled {wait}"


@pytest.mark.parametrize("row", rows(HERE / "lengths.csv"), ids=lambda row: row["message"][:60])
def test_lengths(row: dict[str, str]) -> None:
    """A limit without room is a setting; a long question an outcome, where the server can do no more.

    `left` are the tokens left for the reply: 0 where they are unknown, none where the question is too long.
    """
    status, message, left, context = int(row["status"]), row["message"], row["left"], row["context"]
    if left == "0":
        assert "set a smaller `max_tokens` or `reasoning_max_tokens`" in meaning(status, message, LOCAL)
    elif left:
        reasons = LOCAL.model_copy(update={"reasoning_max_tokens": 100})
        for config, room in ((PUBLIC, int(left)), (LOCAL, int(left)), (reasons, int(left) - 100)):
            assert f"set `max_tokens: {room}` in the model's row" in meaning(status, message, config)
    else:
        assert meaning(status, message) == "context_overflow"
        stopped = meaning(status, message, LOCAL)
        assert f"set `context: {context or 'N'}` in the row if the model can do no more" in stopped
        assert meaning(status, message, LOCAL, int(context or 2048)) == "context_overflow"
    if not left and context:
        more = meaning(status, message, LOCAL, int(context) + 1)
        assert "the row's `context` is" in more and "larger one" in more
