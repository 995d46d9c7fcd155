"""Reads the bytes of a reply; what an error means: one table from status and wording to what happens.

The rules stand in the order in which they are tried; a message shows the server's own sentence behind ours.
Errors about length come first: a question longer than the context is the model's outcome, where its server
could not be set otherwise; a longest reply for which there is no room is a setting.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from triathlon_runner import terminal
from triathlon_runner.foreign_files import parse_json
from triathlon_runner.llm._api import Malformed, ModelUnavailableError, Retryable, Throttled, UnexplainedError
from triathlon_runner.llm.provider import ApiConfig, HttpReply, Request, is_on_own_network
from triathlon_runner.pasted_keys import remove_keys
from triathlon_runner.records import Finish

_SHOWN: Final = 300
"""Characters of a server's text that a message shows."""


_COMMENTS: Final = re.compile(rb"\A(?:\s*:[^\n]*(?:\n|\Z))+")
"""Lines with which a server keeps the connection open: `: OPENROUTER PROCESSING`."""


def json_object(reply: HttpReply) -> dict[str, Any]:
    """Returns the object that a reply with status 200 holds.

    Raises:
        Malformed: it holds none.
        ModelUnavailableError: it is a stream.
    """
    text = _COMMENTS.sub(b"", reply.body)
    if not text.strip():
        raise Malformed("an empty reply")
    if text.lstrip().startswith((b"data:", b"event:")):
        raise ModelUnavailableError(
            "the server streams its replies (`data: …`) although it was not asked to: switch that off at the"
            " server, or ask it without the proxy that does so"
        )
    try:
        body = parse_json(text.decode("utf-8-sig"))
    except ValueError as error:
        # Keys are removed before the text is cut: half of one would no longer look like a key.
        beginning = remove_keys(reply.body[:2000].decode("utf-8", "backslashreplace")).encode()[:80]
        raise Malformed(f"no JSON but {beginning!r} ({error})"[:300]) from None
    if not isinstance(body, dict):
        raise Malformed("no JSON object")
    return body


def error_of(body: Mapping[str, Any]) -> Any:
    """Returns what a reply says of a failure, at its top or in its first choice; None without one.

    Gateways send an error of empty fields with good replies.
    """
    choices = body.get("choices")
    places = (body, *choices[:1]) if isinstance(choices, list) else (body,)
    errors = (place.get("error") for place in places if isinstance(place, dict))
    return next((each for each in errors if (any(each.values()) if isinstance(each, dict) else each)), None)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as a server reported it, in whatever shape."""

    status: int
    """200 where an error in a good reply names none: only its text says what kind it is."""
    text: str
    """Codes and message, without addresses: all that can be matched against."""
    quote: str
    """The server's message as part of a sentence, or that it gave none."""
    param: str
    wait: float | None
    """Seconds that the server asks us to wait."""
    location: str
    """Scheme and host that it redirects to."""


def read_failure(reply: HttpReply) -> Failure:
    """Reads message, code and parameter of an error by OpenAI, Google, vLLM, FastAPI, MiniMax or a page."""
    status, text = reply.status, reply.body.decode("utf-8", "replace")
    try:
        body = parse_json(text)
    except ValueError:
        body = " ".join(text.split())
    if isinstance(body, list) and body:
        body = body[0]
    error = error_of(body) or body.get("base_resp") or body if isinstance(body, dict) else body
    fields: dict[str, Any] = error if isinstance(error, dict) else {"message": str(error)}
    words = (fields.get(name) for name in ("message", "detail", "msg", "status_msg"))
    message = str(next(filter(None, words), text))
    metadata = fields.get("metadata")
    if isinstance(metadata, dict) and metadata.get("raw"):  # what the provider behind OpenRouter said
        message = f"{message}: {metadata['raw']}"
    message = remove_keys(message)[:1000]  # keys first: half of one would no longer look like a key
    codes = [str(fields[name]) for name in ("code", "type", "status") if fields.get(name) is not None]
    codes += _DETAILS.findall(text)
    if status == 200:
        status = next((int(code) for code in codes if re.fullmatch("[45][0-9]{2}", code)), 200)
    quoted, moved = repr(terminal.shortened(message, _SHOWN)), urlsplit(reply.headers.get("location", ""))
    return Failure(
        status,
        text=_ADDRESS.sub("", " ".join((*codes, message))),
        quote=f"the server said {quoted}" if message.strip() else "the server gave no reason",
        param=str(fields.get("param") or ""),
        wait=_wait(reply.headers, text),
        location=f"{moved.scheme}://{moved.netloc.rpartition('@')[2]}" if moved.netloc else "",
    )


_DETAILS: Final = re.compile(r"\"(?:quotaId|n_ctx|n_prompt_tokens)\": ?\"?[\w-]+")
"""Fields beside Gemini's and llama.cpp's messages: which limit was met, and the numbers."""
_ADDRESS: Final = re.compile(r"https?://[^\s\"'\\<>]+")
"""Of a page about the error, whose name has words of other errors in it."""
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_WAIT: Final = re.compile(r"(\d{1,9}(?:\.\d+)?) ?(ms|h|m(?!illi)|s)")
_WAIT_IN_TEXT: Final = re.compile(
    rf"(?:(?:(?:try again|retry) (?:in|after)|please wait) |\"retryDelay\":\s*\")((?:{_WAIT.pattern})+)",
    re.IGNORECASE,
)


def _wait(headers: Mapping[str, str], text: str) -> float | None:
    """Returns the seconds to wait before the next request, by header or else by the error's text.

    A moment is one of the server's clock, whose `date` header says what it showed; ours may be wrong.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\s*\d{1,12}(\.\d*)?\s*", value := headers.get(name, "")):
            return float(value) * unit
    if (moment := _moment(headers.get("retry-after", ""))) is not None:
        return max(0.0, moment - (_moment(headers.get("date", "")) or time.time()))
    match = _WAIT_IN_TEXT.search(text)
    return sum(float(number) * _UNITS[unit] for number, unit in _WAIT.findall(match[1])) if match else None


def _moment(text: str) -> float | None:
    """Returns the seconds since the epoch of an HTTP date; None for any other text."""
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_SMALLER: Final = (
    "set a smaller `max_tokens` in the model's row, or leave out the suite whose prompts are too long"
)
_NO_KEY: Final = (
    "put the key into an environment variable and name that: with `key_env: NAME` in the api block of the"
    " model's row, or with --key-env NAME where --model names the model"
)


_OUTCOMES: Final = {"refused": Finish.REFUSED, "length": Finish.LENGTH, "no answer": Finish.STOP}
"""What a model's reply that is empty ended with, by a rule's effect."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What an error means whose status and text, such as `401 invalid_api_key: …`, begin with a pattern."""

    effect: Literal["stop", "refused", "length", "no answer", "throttled", "again", "question"]
    """`stop`: no question can succeed; `refused`, `length`, `no answer`: the model's outcome; `question`:
    only this one fails."""
    pattern: str
    """A status of 200 is that of an error in a good reply that names none."""
    what: str = ""
    """What it means; `{model}`, `{key}` and `{url}` are filled in."""
    advice: str = ""


RULES: Final = (
    Rule(
        "stop",
        r"40[13] .*(?:litellm\.\w*(?:Authentication|PermissionDenied)Error|\w{3,}Exception - .*key)",
        "the key with which the server itself asks the service behind it was not accepted",
        "whoever runs the server {url} has to replace that key: it is not the one of this row",
    ),
    Rule(
        "stop",
        r"401 |(?:4..|200) .*(?:api[ _-]?key (?:not valid|invalid|expired)|api_key_invalid|"
        r"invalid (?:x-)?api[ _-]?key|invalid_api_key|incorrect api key|"
        r"api key (?:was |has been )?(?:reported as leaked|revoked|disabled)|"
        r"api key does not have permission|unregistered callers|key limit exceeded|no auth credentials|"
        r"invalid subscription key|invalid authorization header|no_db_connection|no connected db)",
        "{key} was not accepted", "{key_advice}",
    ),
    Rule(
        "stop",
        r"(?:4..|200) .*(?:\b(?:account|organi[sz]ation|project|consumer)\b.{0,60}\b(?:flagged|suspended|"
        r"disabled|deactivated|terminated|banned|blocked|not active|restricted)|account_deactivated|"
        r"access_terminated|access was terminated|account is in good standing|arrearage|"
        r"requires (?:a subscription|terms acceptance)|has not been used in project|"
        r"no endpoints (?:found|available)(?! for)|no allowed providers|"
        r"unsupported_country|country, region,? or territory|location is not supported|"
        r"(?:country|region|territory) (?:is )?not supported|"
        r"not available in your (?:country|region|location))",
        "the provider does not serve this account or region",
        "ask the provider, look at the account's settings, or name another account's key in key_env",
    ),
    Rule(
        "stop",
        r"402 |(?:4..|200) .*(?:(?:insufficient|not enough)[ _](?:quota|balance|credits?|funds)|"
        r"balance is insufficient|余额不足|any credits|exceeded_current_quota|free tier .{0,30}exhausted|"
        r"billing_hard_limit|"
        r"billing hard limit|credit balance is too low|payment required|spend(?:ing)? limit|"
        r"api usage limits|per[-_]?day\b|PerDay|(?:daily|weekly|monthly|hourly) (?:usage )?limit|"
        r"limit: 0(?![.\d])|credits are depleted|spending cap|used up your daily|usage limit reached|"
        r"daily rate limit|requires more credits|budget[ _](?:has been )?exceeded|"
        r"(?:crossed|exceeded|over) budget|"
        r"exceeded .{0,20}\bbudget)|"
        r"200 (?!.*(?:rate.?limit|per.?minute|per.?second|too many requests)).*\b(?:credits?|billing)\b",
        "the quota or balance is used up", "raise it or wait until it is renewed, then run again",
    ),
    Rule(
        "question", r"(?:413|429) .*request too large for",
        "the request is larger than the provider's limit a minute", _SMALLER,
    ),
    Rule(
        "stop", r"400 .*max_tokens\W+must be greater than",
        "the token limit leaves no room for the answer behind the reasoning that the row asks for",
        "set `reasoning_max_tokens` in its api block to the tokens of that reasoning",
    ),
    # OpenAI's words where the limit ended the reasoning; the tokens are charged for.
    Rule("length", r"400 .*could not finish the message because"),
    # Groq's where a model calls a tool that nobody offered; other services send the call as their reply.
    Rule("no answer", r"400 .*tool_use_failed"),
    Rule("throttled", "429 "),
    # Each names the request's own content. Words such as `flagged` or `policy` alone do not: an account can
    # be flagged, too, and a data policy can leave no provider.
    Rule(
        "refused",
        r"(?:200|400|403|422) .*(?:content[_ ]?filter|sensitivecontent|"
        r"may contain sensitive|content management policy|content_?policy_?violation|"
        r"content violates|unsafe or sensitive content|敏感内容|"
        r"content filtering policy|ResponsibleAIPolicyViolation|content exists risk|data_inspection_failed|"
        r"inappropriate content|rejected (?:by|as a result of) our safety system|"
        r"limited access to this content for safety|"
        r"\b(?:input|prompt|request|message)s? (?:was|were|has been|is) (?:flagged|blocked)|"
        r"flagged_input|(?:prompt|request|input)\b.{0,40}\bviolat)",
    ),
    Rule(
        "stop",
        r"(?:200|[45]..) .*(?:requires more (?:system )?memory|"
        r"(?:failed to|unable to|could not) load (?:the )?model)",
        "the server cannot load {model}", "look at its log; where memory is short, serve a smaller model",
    ),
    Rule(
        "stop",
        r"(?:200|[45]..) .*(?:system'? (?:role|message|prompt)?s? ?(?:is |are )?not supported|"
        r"(?:not|n[’']t) support (?:the )?'?system\b|"
        r"only user and assistant roles|developer instruction is not enabled|roles must alternate)",
        "{model} takes no message of the role `system`",
        "set `system_prompt: merge` in its row: the instructions then stand before the user's text",
    ),
    Rule(
        "stop",
        r"(?:4..|200) .*(?:is (?:a|not a) chat model|does not support (?:chat|generate|completions?)\b|"
        r"chat template|not support (?:the )?(?:chat )?completions api|only supported in v1/responses|"
        r"does not work with the specified model)",
        "{model} cannot be asked in this way",
        "set `kind: base` in its row for a model that completes text, `kind: instruct` for a chat model",
    ),
    Rule(
        "stop", r"4(?:00|22) .*(?:only supports? (?:the )?stream|stream must be set to true)",
        "{model} replies in a stream alone, and replies are read whole here",
        "ask it through a proxy that collects the stream, or name another model",
    ),
    Rule(
        "stop",
        r"(?:200|400|404|410|422) .*(?:model_not_found|unknown model|invalid model|"
        r"model .{0,120}(?:does not exist|not found|not supported|no longer (?:supported|available))|"
        r"not a valid model|no such model|unable to access .{0,20}\bmodel\b|"
        r"model not exist|模型不存在|no endpoints found for|DeploymentNotFound|models/\S+ is not found|"
        r"is pinned to '|model identifier is invalid|on-demand throughput|(?<!this )\bmodel: \S+$)|"
        r"4(?:04|10) .*\bmodel\b",
        "the server does not know the model {model}", "look at `model` in its api block{listed}",
    ),
    Rule(
        "stop", "40[45] |200 .*unexpected endpoint", "nothing there: is the path of {url} right?", "{v1}",
    ),
    Rule(
        "again",  # LM Studio's 400s, too: the next request loads the model
        r"2\d\d |5(?!01)\d\d |408 |409 |42[45] |49[89] |400 .*model (?:is unloaded|unloaded|has crashed)",
    ),
    Rule("stop", "400 .*http request .*https (?:port|server)", "{url} wants TLS", "let it begin with https://"),
    Rule(
        "stop", "3.. ", "{url} redirects",
        "keys go only where the row says; set base_url to the address that answers{location}",
    ),
    Rule(
        "stop", "407 ", "the proxy on the way to the server wants a user and a password",
        "set them in HTTPS_PROXY or HTTP_PROXY, as in http://user:password@host:port, or name the server in"
        " NO_PROXY",
    ),
    Rule("stop", "403 ", "no access to {model}", "look at what the key and the account may use"),
)  # fmt: skip
"""Lengths and refused settings are read apart: their advice has a number or a name in it."""
_REFUSED_SETTING: Final = re.compile(
    r"unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|deprecated|"
    r"not allowed|cannot both|not permitted|must be|may only be|only \S+ is allowed|requires temperature|"
    r"only the default|too many|at most|supports up to|should be|does not support",
    re.IGNORECASE,
)
_SETTINGS: Final = {
    "max_completion_tokens": "set `max_tokens_field: max_tokens` in its api block",
    "max_tokens": "set `max_tokens_field: max_completion_tokens` in its api block",
    **{
        name: f"add it to `unsupported: [{name}]` in its api block"
        for name in ("temperature", "top_p", "stop", "seed")
    },
    "reasoning_effort": "change or remove `reasoning_effort` in its api block",
}
"""What to do where a setting is refused."""


def classify(
    failure: Failure, config: ApiConfig, request: Request, context: int | None = None, listed: str = ""
) -> Finish:
    """Returns the model's own outcome: its context is too short, or the content was refused.

    `context` is the row's; `listed` are the names that the server lists, in words.

    Raises:
        Retryable: another try may do better.
        ModelUnavailableError: no other question will do better either.
        UnexplainedError: this question fails; others may not.
    """
    status, text = failure.status, failure.text
    is_about_reply = status in (400, 422) and _REPLY_LIMIT.search(text)
    if is_about_reply or (status in (200, 400, 413, 422, 500) and _LENGTH.search(text)):
        return _too_long(failure, config, request, context)
    error = f"{status} {text}"
    for rule in RULES:
        if re.match(rule.pattern, error, re.IGNORECASE | re.DOTALL):
            return _follow(rule, failure, config, listed)
    if status in (400, 422):
        # The first that is named is refused: another may be what the server wants in its place.
        named = re.findall(rf"\b({'|'.join(_SETTINGS)})\b", text) if _REFUSED_SETTING.search(text) else []
        for setting in [failure.param, *named]:
            if advice := _SETTINGS.get(setting):
                raise ModelUnavailableError(f"the provider refuses {setting!r}: {advice}; {failure.quote}")
    too_large = re.match(r"413|.*too (?:large|long|big)", error, re.IGNORECASE | re.DOTALL)
    advice = _SMALLER if too_large else "look at the model's row, or ask who runs the server"
    raise UnexplainedError(status, f"{status}, {failure.quote}; {advice}")


def _follow(rule: Rule, failure: Failure, config: ApiConfig, listed: str) -> Finish:
    """Returns the outcome that a rule means, or raises its error."""
    if (outcome := _OUTCOMES.get(rule.effect)) is not None:
        return outcome
    if rule.effect in ("throttled", "again"):
        kind = Throttled if rule.effect == "throttled" else Retryable
        raise kind(f"{failure.status}, {failure.quote}", failure.wait)
    words = {
        "model": repr(config.model),
        "url": repr(config.base_url),
        "key": f"the key in ${config.key_env}" if config.key_env else "a request without a key",
        "key_advice": "look at the key and what it may be used for" if config.key_env else _NO_KEY,
        "location": f" ({failure.location!r})" if failure.location else "",
        "listed": f"; {listed}" if listed else "",
        "v1": "look at base_url"
        if re.search(r"/v\d", config.base_url)
        else f"most addresses end with /v1: try {config.base_url.rstrip('/') + '/v1'!r}",
    }
    what, advice = rule.what.format(**words), rule.advice.format(**words)
    message = f"{what} ({failure.status}): {failure.quote}; {advice}"
    if rule.effect == "stop":
        raise ModelUnavailableError(message)
    raise UnexplainedError(failure.status, message)


_LENGTH: Final = re.compile(
    r"context[ _-]?(?:length|window|size|limit)(?!` for)|maximum context|max_model_len|"
    r"prompt (?:is )?too long|maximum prompt length|"
    r"tokens in the prompt cannot exceed|input (?:is )?too long|input token count|input tokens exceed|"
    r"reduce the length|too large for model with|exceed_context_size|longer than the maximum model length|"
    r"contextwindowexceeded|inputs` tokens \+ `max_new_tokens`|`inputs` must have less than|max_seq_len|"
    r"longer than the model's context|range of input length|prompt exceeds max|"
    r"exceeded model token limit|too many tokens: size|input length .{0,40}maximum allowed|n_keep",
    re.IGNORECASE,
)
_CONTEXT_IS: Final = (
    r"\+ \d+ > ?(\d+)|n_ctx\W{1,4}(\d+)",
    r"(?:context (?:length|window|size|limit)|maximum context|maximum model length|"
    r"max(?:imum)? sequence length|max_seq_len|max_model_len)(?! by)(?: of)?(?: only| is|:)?\D{0,12}?(\d+)",
    r"with (\d+) maximum context",
    r"\+ `max_new_tokens` must be <= ?(\d+)",
    r"must have less than (\d+)",
    r"> ?(\d+)",
    r"(?:allowed|exceeds)\D{0,40}\((\d+)(?: tokens)?\)",
    r"range of input length should be \[1, (\d+)",
    r"(?:supports up to|max input tokens:|model token limit:|limit for this model is) (\d+)",
)
_PROMPT_IS: Final = (
    r"(\d+)(?: tokens)? (?:in|from|of) (?:the |your )?(?:messages|prompt|input|text input)",
    r"(?:has|contains)(?: at least)? (\d+) (?:input )?tokens",
    r"at least (\d+) input tokens|(\d+) input tokens",
    r"(\d+) `inputs` tokens",
    r"messages resulted in (\d+)",
    r"(?:prompt|input|request)(?: length)?\s?\((?:length )?(\d+)",
    r"(?:less than \d+ tokens|`inputs`)\D{0,12}given: (\d+)",
    r"too long: (\d+) tokens",
    r"prompt contains (\d+)|prompt length (\d+)",
    r"token count \((\d+)\)",
    r"limit: (\d+) \+",
    r"n_prompt_tokens\"?: ?(\d+)|n_keep\W{1,4}(\d+)",
)
_REPLY_WORDS: Final = re.compile(
    r"completion|max_(?:new_|completion_|output_|total_)?tokens|in the output", re.IGNORECASE
)
_REPLY_LIMIT: Final = re.compile(
    r"max_(?:completion_|output_)?tokens\b.{0,60}(?:too large|> ?\d|valid range|not be greater|should be)|"
    r"maxOutputTokens value|at most \d+ completion tokens|maximum tokens you requested exceeds|"
    r"max_(?:completion_|new_)?tokens.{0,80}(?:at most|less than|maximum|<=)",
    re.IGNORECASE,
)


def _number(patterns: tuple[str, ...], text: str) -> int | None:
    """Returns the first number that one of the patterns finds."""
    matches = (re.search(pattern, text, re.IGNORECASE) for pattern in patterns)
    return next((int(next(filter(None, match.groups()))) for match in matches if match), None)


def _too_long(failure: Failure, config: ApiConfig, request: Request, context: int | None) -> Finish:
    """Tells a question that is too long from a reply limit that is.

    Returns:
        The outcome of a long question where the model can do no more.

    Raises:
        ModelUnavailableError: the limit is a setting, with its number where the error says how much room the
            question leaves; or the server could be set to a larger context.
    """
    text = failure.text
    of_server, prompt = _number(_CONTEXT_IS, text), _number(_PROMPT_IS, text)
    total = _number((r"requested (?:about |a total of )?(\d+) tokens|max_total_tokens \((\d+)",), text)
    if prompt is None and total and _REPLY_WORDS.search(text):
        prompt = total - request.sampling.max_tokens
    is_question = bool(_LENGTH.search(text))
    left = of_server - prompt if is_question and of_server and prompt and 0 < prompt < of_server else 0
    if left or not is_question or (prompt is None and _REPLY_LIMIT.search(text)):
        of_answer = left - config.reasoning_max_tokens
        room = f", a question of {prompt} tokens leaves {left} tokens for the reply" if left else ""
        smaller = "set a smaller `max_tokens` or `reasoning_max_tokens`"
        advice = f"set `max_tokens: {of_answer}`" if of_answer > 0 else smaller
        message = f"the token limit is too large{room}: {advice} in the model's row; {failure.quote}"
        raise ModelUnavailableError(message)
    is_all = context is not None and (of_server is None or of_server >= context)
    if is_all or (context is None and not is_on_own_network(config.base_url)):
        return Finish.CONTEXT_OVERFLOW
    known = "the row states no `context`" if context is None else f"the row's `context` is {context}"
    raise ModelUnavailableError(
        f"a question is longer than the context of {f'{of_server} tokens' if of_server else 'its server'},"
        f" and {known}: start the server with a larger one (serve block: max_model_len, vLLM:"
        " --max-model-len, llama.cpp: --ctx-size, llama-cpp-python: n_ctx, Ollama: OLLAMA_CONTEXT_LENGTH), or"
        f" set `context: {of_server or 'N'}` in the row if the model can do no more; {failure.quote}"
    )
