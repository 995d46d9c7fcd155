"""Scripts for `python -m support.model_server`, for example `support.server_scripts:echo`."""

import json
import random
import re
import urllib.parse

from support.core_model import answer, reference
from support.server_replies import Asked, Half, Raw, Reset, Response, Said, Status, too_many

HOSTILE = "wrong\x1b[2J\x1b[H\x1b]0;title\x07\x9b31m \u202etxt.exe\u2066 [bold red]key[/bold red] :boom:"
"""Clears the screen, moves the cursor, names the window, colours, turns text round, and rich's markup."""


def echo(asked: Asked) -> str:
    return f"echo: {asked.prompt}"


def bad_replies(asked: Asked) -> str | Response:
    """What the model's name says: nothing, a cut reply, one of these, or else what a good model says."""
    replies: dict[str, str | Response] = {
        "empty": "",
        "long": Status(400, "This model's maximum context length is 512 tokens", "context_length_exceeded"),
        "large": Status(413, "Request too large"),
        "locked": Status(401, "Unauthorized"),
        "other": Said(answer(asked), model="gpt-5-cheap"),
        "cut": Said("def f", finish="length"),
        "leaking": "<think>hm</think>def f(): pass",
        "uncounted": Said(f"echo: {asked.prompt}", changes={"usage": None}),
        "broken": Status(401, "Incorrect API key provided", "invalid_api_key"),
        "hostile": Status(401, HOSTILE, "invalid_api_key"),
        "liar": Said(answer(asked), model=HOSTILE),
    }
    return replies.get(asked.body["model"], answer(asked))


def reference_unless_worse(asked: Asked) -> str | Response:
    """The reference; of `worse` every fifth, of `half` two thirds; `refused` refuses the key, `odd` all."""
    model = asked.body["model"]
    if model == "odd":
        return Status(400, "odd")
    if model == "refused":
        return Status(401, "Incorrect API key provided", "invalid_api_key")
    return reference(asked, {"worse": 0.2, "half": 0.67}.get(model, 1.0))


RATED = (
    "support.server_scripts:reference_unless_worse",
    "models:\n"
    + "".join(
        f'  - {{{{id: {name}, name: {name}, api: {{{{base_url: "{{url}}", model: {name}}}}},'
        " price: {{input: 1, output: 2}}}}\n"
        for name in ("good", "same", "worse", "half")
    ),
)
"""For `served`: models of which it is known how many tasks they solve."""


FAULTS: tuple[Response, ...] = (
    too_many(),
    too_many(0.01),
    Status(500),
    Status(503, headers={"Retry-After": "0.01"}),
    Reset(),
    Half(),
    Raw(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    Raw(b"<html>busy</html>", "text/html"),
    Raw(b""),
    Said(None),
    Said("not for you", changes={"choices": []}),
    Said("not for you", model="another-model"),
    Reset(1.0),
)
_DICE = random.Random(3)


def answer_at_times(asked: Asked) -> str | Response:
    """Answers as a calm server, and to three requests in ten says one of the faults instead."""
    return _DICE.choice(FAULTS) if _DICE.random() < 0.3 else answer(asked)


def echo_key(asked: Asked) -> Response:
    """An error that names the key, in one of several encodings, or a program that returns it."""
    key = asked.headers["Authorization"].removeprefix("Bearer ")
    faults: list[Response] = [
        Status(500, f"Authorization: Bearer {key}"),
        Status(503, urllib.parse.quote(key, safe=""), key),
        Status(429, f"slow down, {key}", headers={"Retry-After": "0.01"}),
        Status(400, f"what is {key}?", param=key),
        Said("x", model=f"model-of-{key}"),
        Raw(f"{key} is no JSON".encode()),
        Raw(json.dumps({"error": {"message": key.encode().hex()}}).encode()),
        Raw(f'{{"{key}": 1}}'.encode()),
    ]
    if _DICE.random() < 0.5:
        return _DICE.choice(faults)
    changes = {"system_fingerprint": key, "id": key}
    text = answer(asked)
    if name := re.search(r"def (\w+)\(", text):  # a program that returns it, and does not contain it
        text = f"def {name[1]}(*_, **__):\n    return {key[:9]!r} + {key[9:]!r}"
    return Said(text, model="scripted", headers={"X-Echo": key}, changes=changes)
