"""A server that gives back the key that it was sent, in every place and spelling that it can think of."""

import json
import random
import urllib.parse

from support.core_model import answer
from support.server_replies import Asked, Raw, Response, Said, Status

_DICE = random.Random(3)


def echo(asked: Asked) -> Response:
    """A fault with the key in it for every second question, else an answer that has it in all its fields."""
    key = asked.headers["Authorization"].removeprefix("Bearer ")
    if _DICE.random() < 0.5:
        return _DICE.choice(faults(key))
    told = Said(
        f"{answer(asked)}\n{key}",
        reasoning=f"The key is {key}",
        model="scripted",
        headers={"X-Echo": key},
        changes={"system_fingerprint": key, "id": key},
    )
    body = json.dumps(told.body(asked))
    if _DICE.random() < 0.5:
        body = body.replace(key, "".join(f"\\u{ord(letter):04x}" for letter in key))
    return Raw(body.encode())


def faults(key: str) -> list[Response]:
    """Errors of all kinds that name it."""
    return [
        Status(500, f"Authorization: Bearer {key}"),
        Status(503, urllib.parse.quote(key), key),
        Status(429, f"slow down, {key}", headers={"Retry-After": "0.01"}),
        Status(400, f"what is {key}?", param=key),
        Said("x", model=f"model-of-{key}"),
        Raw(f"{key} is no JSON".encode()),
        Raw(json.dumps({"error": {"message": key.encode().hex()}}).encode()),
        Raw(f'{{"{key}": 1}}'.encode()),
    ]
