"""Scripts for `python -m support.model_server`, for example `support.server_scripts:echo`."""

from support.core_model import answer, reference
from support.server_replies import Asked, Response, Said, Status

HOSTILE = "wrong\x1b[2J\x1b[H\x1b]0;title\x07\x9b31m \u202etxt.exe\u2066 [bold red]key[/bold red] :boom:"
"""Clears the screen, moves the cursor, names the window, colours, turns text round, and rich's markup."""


def echo(asked: Asked) -> str:
    """Says the prompt again."""
    return f"echo: {asked.prompt}"


def uncounted(asked: Asked) -> Said:
    """Says the prompt again, and not how many tokens that took."""
    return Said(f"echo: {asked.prompt}", changes={"usage": None})


def bad_replies(asked: Asked) -> str | Response:
    """What the model's name says: `empty`, `cut`, `long` (past the context), `large` (413), `other`.

    `locked` wants a key (401); `nousage` answers without token counts; `busy` has no time (429); `wordy`
    has a long name, and `hidden` says with status 200 that it is an error 400.
    """
    model = asked.body["model"]
    if model == "wordy":
        return Said(answer(asked), model=5000 * "x")
    if model == "hidden":
        return Said("", changes={"choices": None, "error": {"code": 400, "message": "Strange request"}})
    if model == "busy":
        return Status(429, "Too many requests")
    if model == "long":
        return Status(400, "This model's maximum context length is 512 tokens", "context_length_exceeded")
    if model == "nousage":
        return Said(answer(asked), changes={"usage": None})
    if model == "large":
        return Status(413, "Request too large")
    if model == "locked":
        return Status(401, "Unauthorized")
    if model == "other":
        return Said(answer(asked), model="gpt-5-cheap")
    return Said("def f", finish="length") if model == "cut" else ""


def good_and_broken(asked: Asked) -> str | Response:
    """Answers our own problems, except as the models `broken`, `hostile` and `liar`.

    `broken` refuses the key; `hostile` refuses it in a text full of control characters and markup; `liar`
    answers, and gives such a text as its name.
    """
    model = asked.body["model"]
    if model == "broken":
        return Status(401, "Incorrect API key provided", "invalid_api_key")
    if model == "hostile":
        return Status(401, HOSTILE, "invalid_api_key")
    return Said(answer(asked), model=HOSTILE) if model == "liar" else answer(asked)


def reference_uncounted(asked: Asked) -> Said:
    """Says the reference of our own problems, and not how many tokens that took."""
    return Said(reference(asked, 1.0), changes={"usage": None})


def reference_unless_worse(asked: Asked) -> str | Response:
    """Says the reference of our own problems; the model `worse` that of every fifth, `half` of two thirds.

    The model `refused` refuses the key.
    """
    model = asked.body["model"]
    if model == "refused":
        return Status(401, "Incorrect API key provided", "invalid_api_key")
    return reference(asked, {"worse": 0.2, "half": 0.67}.get(model, 1.0))
