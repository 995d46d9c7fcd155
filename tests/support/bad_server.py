"""A server that misbehaves three times in ten, in every way that is known, and else knows our problems."""

import random

from support.core_model import answer
from support.model_server import Script
from support.server_replies import (
    Asked,
    Drip,
    Half,
    Hang,
    InvalidUtf8,
    Raw,
    Reset,
    Response,
    Said,
    Status,
    too_many,
)

FAULTS: tuple[Response, ...] = (
    too_many(0.01),
    too_many(),
    Status(500),
    Status(503, headers={"Retry-After": "0.01"}),
    Reset(),
    Hang(1.0),
    Half(),
    InvalidUtf8(),
    Raw(b"<html>busy</html>", "text/html"),
    Raw(b""),
    Raw(b"[1, 2"),
    Said(None),
    Said("not for you", choices=0),
    Said("not for you", model="another-model"),
    Drip("never whole", seconds=60),
)
SHARE = 0.3


def misbehaving(calm: Script, seed: int) -> Script:
    """What `calm` says, and in so large a share one of the faults instead; good replies at times mistyped."""
    rng = random.Random(seed)

    def script(asked: Asked) -> object:
        return rng.choice(FAULTS) if rng.random() < SHARE else calm(asked)

    return script  # type: ignore[return-value]  # what calm says or a fault


answer_at_times = misbehaving(answer, seed=5)
