"""Scripts of servers that fail by chance, for `python -m support.model_server support.faulty_server:calm`."""

import random

from support.model_server import Script
from support.server_replies import (
    Asked,
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
    too_many(),
    too_many(1),
    Status(500),
    Status(503),
    Reset(),
    Half(),
    InvalidUtf8(),
    Said(None),
    Raw(b"<html>busy</html>", "text/html"),
)
HANG = Hang(20.0)


def calm(asked: Asked) -> str:
    """The same to the same question."""
    return f"echo {asked.prompt}"


def _failing(share: float, faults: tuple[Response, ...]) -> Script:
    rng = random.Random(1)

    def script(asked: Asked) -> str | Response:
        return rng.choice(faults) if rng.random() < share else calm(asked)

    return script


faults = _failing(0.3 * len(FAULTS) / (len(FAULTS) + 1), FAULTS)
"""Every fault but the hangs, each as often as with them."""
hangs_too = _failing(0.3, (*FAULTS, HANG))
"""Three requests in ten fail, one of ten of these by saying nothing for 20 s."""
