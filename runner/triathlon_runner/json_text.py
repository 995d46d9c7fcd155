"""JSON that servers, models and users wrote."""

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Returns what a JSON text holds.

    Raises:
        ValueError: it is no JSON, or is nested too deeply to be read (a hundred thousand brackets).
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(str(error)) from None
