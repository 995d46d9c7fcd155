"""What an HTTP error means: try again, stop this model, or the model's own outcome."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triathlon_runner.endpoints._api import EndpointError
from triathlon_runner.endpoints._config import ApiConfig
from triathlon_runner.endpoints._errors import ModelUnavailableError, Retryable, Throttled
from triathlon_runner.endpoints._waits import retry_after
from triathlon_runner.records import Finish

_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|max_model_len|prompt is too long|input is too long|"
    r"input token count .*exceeds|reduce the length|too large for model with|exceed_context_size|"
    r"longer than the maximum model length",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content[ _](?:filter|management policy|policy_violation|policy)|content_?filter|invalid_prompt|flagged|"
    r"moderation|safety (?:system|filter|check)|ResponsibleAI|data_inspection_failed",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|billing_hard_limit|credit balance is too low|"
    r"payment required|spend(?:ing)? limit|quota_exceeded_permanently",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|unknown model|invalid model|model .{0,120}(?:does not exist|not found|not supported)|"
    r"not a valid model|no such model",
    re.IGNORECASE,
)
_REFUSED_SETTING = re.compile(
    r"unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|extra (?:inputs|fields)|deprecated|"
    r"not allowed|cannot both|not permitted|must be|only the default|too many|at most|does not support",
    re.IGNORECASE,
)
_SETTINGS = [
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "stop",
    "seed",
    "reasoning_effort",
]
_TRY_AGAIN = frozenset({408, 409, 425})


@dataclass(frozen=True, slots=True)
class HttpFailure:
    """An error as a server reported it, in whatever shape."""

    status: int
    message: str
    code: str
    param: str
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        """All that can be matched against."""
        return f"{self.code} {self.message}"


def read_failure(status: int, raw: bytes, headers: Mapping[str, str]) -> HttpFailure:
    """Finds message, code and parameter in OpenAI's, Google's, vLLM's, FastAPI's or anybody's error body."""
    text = raw.decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except ValueError:
        return HttpFailure(status, " ".join(text.split())[:500], "", "", headers)
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    return failure_of(status, error, headers, text)


def failure_of(status: int, error: object, headers: Mapping[str, str], raw: str) -> HttpFailure:
    """The same for an error object; `raw` is the whole body, for hints that stand elsewhere in it."""
    if not isinstance(error, dict):
        return HttpFailure(status, str(error)[:500], "", "", headers)
    message = error.get("message") or error.get("detail") or raw
    code = " ".join(str(error[name]) for name in ("code", "type", "status") if error.get(name) is not None)
    wait = retry_after(headers, raw)
    known = dict(headers) if wait is None else {**headers, "retry-after": str(wait), "retry-after-ms": ""}
    return HttpFailure(status, str(message)[:500], code, str(error.get("param") or ""), known)


def judge_failure(failure: HttpFailure, config: ApiConfig) -> Finish:
    """Says what an error means.

    Returns:
        The model's own outcome: its context is too short, or it refused.

    Raises:
        Retryable: another attempt may do better.
        ModelUnavailableError: no other question will do better either.
        EndpointError: this question cannot be asked, others may.
    """
    status, said = failure.status, f"the server said {failure.message!r}"
    if _QUOTA.search(failure.text) or status == 402:
        raise ModelUnavailableError(f"the quota or balance at the provider is used up: {said}")
    if status == 429:
        raise Throttled(f"429, {said}", retry_after(failure.headers, failure.message))
    if status in (400, 413, 422, 500) and _CONTEXT.search(failure.text):
        return Finish.CONTEXT_OVERFLOW
    if status in (400, 403, 422) and _FILTER.search(failure.text):
        return Finish.REFUSED
    if status >= 500 or status in _TRY_AGAIN:
        raise Retryable(f"{status}, {said}", retry_after(failure.headers, failure.message))
    _stop_model(failure, config, said)
    raise EndpointError(f"the server answered {status}: {said}")


def _stop_model(failure: HttpFailure, config: ApiConfig, said: str) -> None:
    status = failure.status
    if 300 <= status < 400:
        target = failure.headers.get("location", "another address")
        raise ModelUnavailableError(
            f"{config.base_url!r} redirects ({status}) to {target!r}: keys go only where the row says;"
            " set base_url to the address that answers"
        )
    if status == 401:
        where = f"the key in ${config.key_env}" if config.key_env else "a request without a key (no key_env)"
        raise ModelUnavailableError(f"{where} was not accepted (401): {said}")
    if status == 403:
        raise ModelUnavailableError(f"no access to {config.model!r} (403): {said}")
    if _UNKNOWN_MODEL.search(failure.text) or (status == 404 and "model" in failure.text.lower()):
        raise ModelUnavailableError(f"the server does not know the model {config.model!r} ({status}): {said}")
    if status in (404, 405):
        raise ModelUnavailableError(
            f"nothing there ({status}): is the path of {config.base_url!r} right? {said}"
        )
    if status in (400, 422) and (setting := _refused_setting(failure)):
        raise ModelUnavailableError(f"the provider refuses {setting!r}: {_advice(setting)}; {said}")


def _refused_setting(failure: HttpFailure) -> str | None:
    if failure.param in _SETTINGS:
        return failure.param
    if not _REFUSED_SETTING.search(failure.text):
        return None
    return next((name for name in _SETTINGS if re.search(rf"\b{name}\b", failure.text)), None)


def _advice(setting: str) -> str:
    advice: dict[str, Any] = {
        "max_tokens": "set `max_tokens_field: max_completion_tokens` in its api block, or a smaller limit",
        "max_completion_tokens": "set `max_tokens_field: max_tokens` in its api block, or a smaller limit",
        "reasoning_effort": "change or remove `reasoning_effort` in its api block",
        "stop": "set `max_stop_sequences`, or add it to `unsupported`, in its api block",
    }
    return str(advice.get(setting, f"add it to `unsupported: [{setting}]` in its api block"))
