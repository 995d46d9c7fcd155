"""What an HTTP error means: try again, stop this model, or the model's own outcome."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from triathlon_runner import terminal
from triathlon_runner.endpoints._api import (
    ModelUnavailableError,
    Retryable,
    Throttled,
    UnexplainedError,
)
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._retries import retry_after
from triathlon_runner.json_text import parse_json
from triathlon_runner.pasted_keys import remove_keys
from triathlon_runner.records import Finish

_pattern = functools.partial(re.compile, flags=re.IGNORECASE)
PROXY_WANTS_A_USER = (
    "the proxy on the way to the server wants a user and a password (407): set them in HTTPS_PROXY or"
    " HTTP_PROXY, as in http://user:password@host:port, or name the server in NO_PROXY"
)
_CONTEXT = _pattern(
    r"context[ _-]?(?:length|window|size|limit)|maximum context|max_model_len|prompt is too long|"
    r"input is too long|input token count .*exceeds|input tokens exceed|reduce the length|"
    r"too large for model with|exceed_context_size|longer than the maximum model length",
)
_CONTENT_REFUSED = _pattern(
    # Each names the request's own content. Words such as `flagged` or `policy` alone do not: an account can
    # be flagged, too, and a data policy can leave no provider.
    r"content_filter|content management policy|content_policy_violation|content filtering policy|"
    r"ResponsibleAIPolicyViolation|content exists risk|data_inspection_failed|inappropriate content|"
    r"rejected (?:by|as a result of) our safety system|limited access to this content for safety|"
    r"\b(?:input|prompt|request|message)s? (?:was|were|has been|is) (?:flagged|blocked)|"
    r"flagged_input|(?:prompt|request|input)\b.{0,40}\bviolat",
)
_KEY = _pattern(
    r"api[ _-]?key (?:not valid|invalid|expired)|api_key_invalid|invalid (?:x-)?api[ _-]?key|invalid_api_key|"
    r"incorrect api key|api key (?:was |has been )?(?:reported as leaked|revoked|disabled)|"
    r"api key does not have permission|unregistered callers|key limit exceeded|no auth credentials|"
    r"invalid subscription key",
)
_ACCOUNT = _pattern(
    r"\b(?:account|organi[sz]ation|project|consumer)\b.{0,60}\b(?:flagged|suspended|disabled|deactivated|"
    r"terminated|banned|blocked|not active|restricted)|account_deactivated|access_terminated|"
    r"access was terminated|account is in good standing|arrearage|requires a subscription|"
    r"has not been used in project",
)
_REGION = _pattern(
    r"unsupported_country|country, region,? or territory|location is not supported|"
    r"(?:country|region|territory) (?:is )?not supported|not available in your (?:country|region|location)",
)
_QUOTA = _pattern(
    r"insufficient[ _](?:quota|balance|credits?|funds)|billing_hard_limit|billing hard limit|"
    r"credit balance is too low|payment required|spend(?:ing)? limit|api usage limits|per-?day\b|"
    r"PerDay|(?:daily|weekly|monthly|hourly) (?:usage )?limit|requires more credits",
)
_MONEY = _pattern(r"\bcredits?\b|\bbilling\b")
"""In an error without a status this is about money, unless it is about too many requests (`_RATE`)."""
_RATE = _pattern(r"rate.?limit|per.?minute|per.?second|too many requests")
_TOO_LARGE = _pattern(r"too (?:large|long|big)")
_UNKNOWN_MODEL = _pattern(
    r"model_not_found|unknown model|invalid model|model .{0,120}(?:does not exist|not found|not supported)|"
    r"not a valid model|no such model|model not exist|no endpoints found for|DeploymentNotFound|"
    r"models/\S+ is not found|\bmodel: \S+$",
)
_OTHER_KIND = _pattern(
    r"is (?:a|not a) chat model|does not support (?:chat|generate|completions?)\b|chat template|"
    r"not support (?:the )?(?:chat )?completions api",
)
_TOO_MANY_TOKENS = _pattern(
    r"max_(?:completion_|output_)?tokens\b.{0,60}(?:too large|> ?\d|valid range)|maxOutputTokens value|"
    r"at most \d+ completion tokens|max_(?:completion_)?tokens.{0,80}(?:at most|less than|maximum|<=)",
)
_ALLOWED_TOKENS = (
    r"at most (\d+)|range\b.{0,40}\[ ?1, ?(\d+)|> ?(\d+), which is the maximum|"
    r"to (\d+) \(exclusive\)|(?:less than or equal to|<=) ?(\d+)"
)
_REQUEST_OVER_RATE = _pattern(r"request too large for")
"""A 429 or 413 of OpenAI and Groq for one request that is larger than a minute's tokens."""
_NO_MEMORY = _pattern(r"requires more (?:system )?memory")
_REFUSED_SETTING = _pattern(
    r"unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|deprecated|"
    r"not allowed|cannot both|not permitted|must be|only the default|too many|at most|does not support",
)
_SHOWN = 200
"""Characters of a server's text that a message shows."""
_ADVICE = {
    "max_completion_tokens": "set `max_tokens_field: max_tokens` in its api block",
    "max_tokens": "set `max_tokens_field: max_completion_tokens` in its api block",
    "reasoning_effort": "change or remove `reasoning_effort` in its api block",
    "stop": "set `max_stop_sequences`, or add it to `unsupported`, in its api block",
}
"""What to do where a setting is refused; any other can be called unsupported."""
_SETTINGS = (
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "reasoning_effort",
)
_SMALLER = (
    "set a smaller `max_tokens` in the model's row, or leave out the suite whose prompts are too long; the"
    " next run asks again"
)
_ASK = "look at the model's row, or ask who runs the server; the next run asks again"
_NAME_A_KEY = (
    "put the key into an environment variable and name that: with `key_env: NAME` in the api block of the"
    " model's row, or with --key-env NAME where --model names the model"
)


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """An error as a server reported it, in whatever shape."""

    status: int | None
    """None where an error in a reply with status 200 names none: only its text says what kind it is."""
    message: str
    text: str
    """Codes and message: all that can be matched against."""
    param: str
    wait: float | None
    """Seconds that the server asks us to wait."""
    location: str
    """Where it redirects to."""
    quote: str
    """The server's message as part of a sentence, or that there was none."""
    answer: str
    """What the server answered, with its message, as the beginning of a sentence."""

    def refuses(self, pattern: re.Pattern[str]) -> bool:
        """Whether the text matches, and the status does not say that the server is at fault."""
        return (self.status is None or 400 <= self.status < 500) and bool(pattern.search(self.text))

    def stop(self, what: str, advice: str) -> ModelUnavailableError:
        """Returns the error of a model that this failure stops."""
        return ModelUnavailableError(f"{what} ({self.status or 200}): {self.quote}; {advice}")


def shortened(text: str) -> str:
    """Returns a server's text for a message: without keys, and cut where it is long."""
    # keys are removed before it is cut: half of a key would no longer look like one
    return terminal.shortened(remove_keys(text), _SHOWN)


def read_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> HttpFailure:
    """Reads message, code and parameter of an error body by OpenAI, Google, vLLM or FastAPI."""
    text = raw.decode("utf-8", "replace")
    try:
        body = parse_json(text)
    except ValueError:
        body = " ".join(text.split())
    if isinstance(body, list) and body:
        body = body[0]
    return _failure(status, body.get("error", body) if isinstance(body, dict) else body, headers, text)


def failure_in_reply(error: dict[str, Any], headers: Mapping[str, str], raw: str) -> HttpFailure:
    """Reads an error under status 200, as OpenRouter sends the errors of the servers behind it."""
    code = str(error.get("code"))
    failure = _failure(int(code) if re.fullmatch("[45][0-9]{2}", code) else None, error, headers, raw)
    quote = f"an error in a reply with status 200: {shortened(failure.message)!r}"
    return replace(failure, quote=quote, answer=quote)


def _failure(status: int | None, error: object, headers: Mapping[str, str], raw: str) -> HttpFailure:
    """Reads an error object; `raw` is the whole body, for hints that stand elsewhere in it."""
    fields = error if isinstance(error, dict) else {"message": str(error)}
    message = fields.get("message") or fields.get("detail") or raw
    metadata = fields.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # what OpenRouter's provider said
        message = f"{message}: {metadata['raw']}"
    message = remove_keys(str(message))[:500]  # keys first: half of one would no longer look like a key
    quoted = repr(shortened(message)) if message.strip() else ""
    codes = (str(fields[name]) for name in ("code", "type", "status") if fields.get(name) is not None)
    return HttpFailure(
        status,
        message,
        text=" ".join((*codes, message)),
        param=str(fields.get("param") or ""),
        wait=retry_after(headers, raw),
        location=headers.get("location", "another address"),
        quote=f"the server said {quoted}" if quoted else "the server gave no reason",
        answer=f"the server answered {status}{f': {quoted}' if quoted else ' and gave no reason'}",
    )


def classify_http_error(failure: HttpFailure, config: ApiConfig) -> Finish:
    """Classifies an error.

    Returns:
        The model's own outcome: its context is too short, or the content of this request was refused.

    Raises:
        Retryable: another attempt may do better.
        ModelUnavailableError: no other question will do better either.
        UnexplainedError: this question fails; others may not.
    """
    status, text, quote = failure.status, failure.text, failure.quote
    _stop_for_account(failure, config)
    if status in (413, 429) and _REQUEST_OVER_RATE.search(text):
        raise UnexplainedError(
            status, f"the request is larger than the provider's limit a minute: {quote}; {_SMALLER}"
        )
    if status == 429:
        raise Throttled(f"429, {quote}", failure.wait)
    if status in (None, 400, 413, 422, 500) and _CONTEXT.search(text):
        return Finish.CONTEXT_OVERFLOW
    if status in (400, 403, 422) and _CONTENT_REFUSED.search(text):
        return Finish.REFUSED
    if (status is None or status >= 500) and _NO_MEMORY.search(text):
        raise ModelUnavailableError(f"the server has too little memory for {config.model!r}: {quote}")
    if status is None:
        raise Retryable(quote, failure.wait)
    if (status >= 500 and status != 501) or status in (408, 409, 425):
        raise Retryable(f"{status}, {quote}", failure.wait)
    _stop_model(status, failure, config)
    is_too_large = status == 413 or _TOO_LARGE.search(text)
    raise UnexplainedError(status, f"{failure.answer}; {_SMALLER if is_too_large else _ASK}")


def _stop_for_account(failure: HttpFailure, config: ApiConfig) -> None:
    """Key, account, region and money: the same for every request, whatever the status."""
    if failure.status == 401 or failure.refuses(_KEY):
        if not config.key_env:
            raise failure.stop("a request without a key was not accepted", _NAME_A_KEY)
        raise failure.stop(
            f"the key in ${config.key_env} was not accepted", "look at the key and what it may be used for"
        )
    if failure.refuses(_ACCOUNT):
        advice = "ask the provider, or name the key of another account in key_env"
        raise failure.stop("the provider does not serve this account", advice)
    if failure.refuses(_REGION):
        raise failure.stop("the provider does not serve this region", "use a provider that does")
    is_about_money = failure.status is None and failure.refuses(_MONEY) and not failure.refuses(_RATE)
    if failure.status == 402 or failure.refuses(_QUOTA) or is_about_money:
        advice = "raise it or wait until it is renewed, then run again"
        raise failure.stop("the quota or balance at the provider is used up", advice)


def _stop_model(status: int, failure: HttpFailure, config: ApiConfig) -> None:
    """The row names another model, address or setting than the server has."""
    text, quote, model = failure.text, failure.quote, config.model
    if 300 <= status < 400:
        raise ModelUnavailableError(
            f"{config.base_url!r} redirects ({status}) to {shortened(failure.location)!r}: keys go only where"
            " the row says; set base_url to the address that answers"
        )
    if status == 407:
        raise ModelUnavailableError(PROXY_WANTS_A_USER)
    if _OTHER_KIND.search(text):
        advice = (
            "set `kind: base` in its row for a model that completes text, `kind: instruct` for a chat model"
        )
        raise failure.stop(f"{model!r} cannot be asked in this way", advice)
    if status == 403:
        raise failure.stop(f"no access to {model!r}", "look at what the key and the account may use")
    if _UNKNOWN_MODEL.search(text) or (status == 404 and "model" in text.lower()):
        raise failure.stop(
            f"the server does not know the model {model!r}", "look at `model` in its api block"
        )
    if status == 404 and "no endpoints found" in text.lower():
        raise ModelUnavailableError(f"no provider may serve {model!r} to this account (404): {quote}")
    if status in (404, 405):
        raise ModelUnavailableError(
            f"nothing there ({status}): is the path of {config.base_url!r} right? {quote}"
        )
    if status in (400, 422) and _TOO_MANY_TOKENS.search(text):
        match = re.search(_ALLOWED_TOKENS, failure.message)
        most = int(next(filter(None, match.groups()))) if match else None
        if most and "exclusive" in failure.message:
            most -= 1
        advice = f"set `max_tokens: {most}`" if most else "set a smaller `max_tokens`"
        raise ModelUnavailableError(f"the token limit is too large: {advice} in the model's row; {quote}")
    if status in (400, 422):
        is_refused = _REFUSED_SETTING.search(text)
        named = (name for name in _SETTINGS if is_refused and re.search(rf"\b{name}\b", text))
        if setting := failure.param if failure.param in _SETTINGS else next(named, None):
            advice = _ADVICE.get(setting, f"add it to `unsupported: [{setting}]` in its api block")
            raise ModelUnavailableError(f"the provider refuses {setting!r}: {advice}; {quote}")
