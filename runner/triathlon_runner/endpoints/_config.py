"""Where and how a model is asked: the `api:` block of a row of models.yaml, limits, and keys."""

import math
import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Any, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from triathlon_runner.endpoints.providers import PROVIDERS
from triathlon_runner.errors import UserError
from triathlon_runner.pasted_keys import REMOVED, remove_keys

Parameter = Literal["max_tokens", "temperature", "top_p", "stop", "seed"]
"""The decoding settings that a provider may refuse."""
_SUITE_FIELDS = {
    *get_args(Parameter),
    *("max_completion_tokens", "messages", "model", "n", "prompt", "stop_sequences", "stream", "system"),
}
"""Body fields that the protocol of a suite decides, never the `body` of a row."""

_PATHS_OF_REQUESTS = ("/chat/completions", "/completions", "/messages")
"""Endings that are no part of a base address: requests add them to it."""
_SECRET = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, section 5.6.2: `token`."""

T = TypeVar("T")


def _is_variable(name: str) -> str:
    """Refuses what may be the key itself; the message does not contain it."""
    if not _VARIABLE.fullmatch(name):
        raise ValueError(
            "expected the name of an environment variable in capitals, such as OPENAI_API_KEY; "
            "the key itself must never stand in this file"
        )
    return name


Variable = Annotated[str, AfterValidator(_is_variable)]
"""The name of an environment variable."""
Many = Annotated[tuple[T, ...], Field(strict=False)]
"""A YAML list, read as a tuple."""

_OF_THE_ASKER = frozenset(["http-referer", "referer", "user-agent", "x-title"])
"""Headers that say who asks; OpenRouter shows them on its pages."""


class ApiConfig(BaseModel):
    """The `api:` block: where and how a model is asked, and what its provider refuses or renames."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        use_attribute_docstrings=True,
        hide_input_in_errors=True,  # it may be a key
    )

    base_url: str
    """Address up to and including the version, such as `https://api.openai.com/v1`."""
    model: str = Field(min_length=1)
    """The model's name at this provider."""
    provider: str = "openai"
    """Which protocol it speaks: `openai` (most do, local servers too), `anthropic` or `azure`."""
    key_env: Variable | None = None
    """Name of the environment variable that holds the key; the key itself never stands in a file."""
    key_is_token: bool = False
    """For `azure`: the variable holds a token of Microsoft Entra ID, not the key of a resource."""
    api_version: str | None = None
    """For `azure`: the `api-version` of addresses under `/openai/deployments/`."""
    client_certificate: str | None = None
    """PEM file with certificate and key, where the server wants to see one."""
    revision: str = ""
    """Version of the weights or deployment where the name does not say it; part of the cache key."""
    served_as: Many[str] = ()
    """Further names under which the server may answer; a reply in any unrelated name is not used."""

    unsupported: Many[Parameter] = ()
    """Decoding settings that the provider refuses: left out of all requests (`stop` is then applied here)."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """How the provider calls the token limit; OpenAI's reasoning models want `max_completion_tokens`."""
    max_stop_sequences: int | None = Field(default=None, ge=1)
    """How many stop sequences the provider takes (OpenAI: 4); the rest is applied here."""
    reasoning_effort: str | None = None
    """Sent as `reasoning_effort` where set (`low`, `medium`, `high`, …)."""
    reasoning_max_tokens: int = Field(default=0, ge=0)
    """Tokens that a reasoning model may spend before its answer, on top of the suite's limit."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Extra HTTP headers; no secrets here. Other ones make another model: see `shaping_headers`."""
    secret_headers: dict[str, Variable] = Field(default_factory=dict)
    """Extra HTTP headers whose values are secret: header name to the name of an environment variable."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Extra top-level fields of every request body; part of the cache key."""

    concurrency: int | None = Field(default=None, ge=1)
    """Most requests in flight at once; the limit finds its own level up to here."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    """The provider's limit on requests a minute, where known."""
    tokens_per_minute: int | None = Field(default=None, ge=1)
    """The provider's limit on input and output tokens a minute, where known."""
    timeout_seconds: float = Field(default=600.0, gt=0)
    """Longest wait for one answer, from sending the question to the last byte."""

    @field_validator("base_url")
    @classmethod
    def _is_http(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            got = "something with '@' (not shown: it may hold a password)" if "@" in value else repr(value)
            raise ValueError(f"expected an http(s) address such as https://api.openai.com/v1, got {got}")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "a base_url must hold no user, password or query: name the key's variable in key_env"
            )
        try:
            parts.port, parts.hostname.encode("idna")
        except ValueError as error:
            raise ValueError(f"expected a possible host and port, got {parts.netloc!r}: {error}") from None
        value = value.rstrip("/")
        if ending := next((path for path in _PATHS_OF_REQUESTS if parts.path.rstrip("/").endswith(path)), ""):
            raise ValueError(
                f"expected an address without the {ending} that requests add to it, got {value!r}; write"
                f" {value.removesuffix(ending)!r}"
            )
        return value

    @field_validator("provider")
    @classmethod
    def _is_provider(cls, value: str) -> str:
        if value not in PROVIDERS:
            raise ValueError(f"expected one of {', '.join(PROVIDERS)}, got {value!r}")
        return value

    @field_validator("headers", "secret_headers")
    @classmethod
    def _can_be_sent(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if not _HEADER_NAME.fullmatch(name):
                raise ValueError(f"expected a header's name of letters, digits and '-', got {name!r}")
            if not text.isprintable():
                raise ValueError(f"expected one line of text for the header {name!r}, got other characters")
        return value

    @field_validator("headers")
    @classmethod
    def _holds_no_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        if secret := sorted(name for name in value if _SECRET.search(name)):
            raise ValueError(
                f"{', '.join(secret)} may hold a key: use secret_headers and an environment variable"
            )
        return value

    @field_validator("body")
    @classmethod
    def _leaves_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_SUITE_FIELDS & value.keys()):
            raise ValueError(f"body may not set {', '.join(taken)}: the suite's protocol decides these")
        return value

    @property
    def shaping_headers(self) -> dict[str, str]:
        """Returns the headers that may choose a model or a setting: those that only name the asker do not."""
        return {name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_ASKER}

    def missing_variables(self) -> list[str]:
        """Returns the names of the environment variables that this row needs and that are not set."""
        names = [self.key_env, *self.secret_headers.values()]
        return [name for name in names if name is not None and not os.environ.get(name)]


def is_loopback(base_url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Limits:
    """Attempts, waits and concurrency for one model. The defaults suit a provider on the internet."""

    concurrency: int = 32
    """Most requests in flight at once, where the row does not say."""
    first_concurrency: int = 8
    """Requests at once with which the search for the right limit starts."""
    attempts: int = 12
    """Attempts at one question, 429s not counted, and those not that fail while the server is down."""
    throttled_attempts: int = 40
    """Tries of one question that may meet a 429."""
    total_seconds: float = 1800.0
    """No question is tried again this long, and the longest outage, after it was first sent."""
    first_wait: float = 0.5
    """Back-off after the first failure, in seconds; doubles with each, with jitter."""
    longest_wait: float = 10.0
    """Largest back-off, in seconds."""
    longest_retry_after: float = 900.0
    """A server that asks us to wait longer than this has its model stopped instead."""
    failures_in_a_row: int = 10
    """Failures in a row after which only one request at a time is sent."""
    outage_seconds: float = 600.0
    """Seconds without an answer after which the model is stopped, if its server was ever connected to."""
    first_contact_seconds: float = 10.0
    """Seconds after which the model is stopped if no connection to its server was ever made."""
    unexplained: int = 5
    """Different questions in a row with the same 4xx that no rule explains, after which the model stops."""
    connect_seconds: float = 15.0
    """Longest wait for a connection."""
    requests_per_minute: int | None = None
    """The row's limit."""
    tokens_per_minute: int | None = None
    """The row's limit."""

    @property
    def is_own_server(self) -> bool:
        """Whether the server may be away for any time: it is ours, and whoever restarts it says so."""
        return math.isinf(self.outage_seconds)


class Secrets:
    """The keys of one model, read from the environment; removes them from what a server sends."""

    def __init__(self, config: ApiConfig) -> None:
        """Reads the variables that the row names.

        Raises:
            UserError: one of them is not set, or holds several lines.
        """
        if missing := config.missing_variables():
            names = ", ".join(f"${name}" for name in missing)
            raise UserError(f"Expected the environment to hold {names} for {config.model!r}: not set.")
        self.key = _line(config.key_env, config) if config.key_env else ""
        """Empty where the server wants none."""
        self.headers = {header: _line(name, config) for header, name in config.secret_headers.items()}
        """Headers whose values are secret."""
        values = [value for value in (self.key, *self.headers.values()) if len(value) > 3]
        pattern = "|".join(_json_pattern(value) for value in values) or "(?!)"
        self.in_reply = re.compile(pattern.encode())
        """Finds the keys in a reply's bytes: some servers echo them."""
        self._in_text = re.compile(pattern)

    def __reduce__(self) -> str:
        raise TypeError("secrets are not pickled")

    def scrub_message(self, text: str) -> str:
        """Removes the keys from a message about a server, and all else in it that looks like one.

        Not for replies: what a model wrote is graded as it is.
        """
        return remove_keys(self._in_text.sub(REMOVED, text))


def _json_pattern(value: str) -> str:
    r"""Matches a key however JSON writes its characters: as they are, as `\/` or as `\u0041`."""
    return "".join(
        (r"(?:\\?" if each in '"\\/' else "(?:") + rf"{re.escape(each)}|\\u(?:{code:04x}|{code:04X}))"
        for each, code in ((each, ord(each)) for each in value)
    )


def _line(variable: str, config: ApiConfig) -> str:
    """Returns what a variable of the environment holds; raises a UserError if it is more than a line."""
    value = os.environ[variable].strip()
    if not value.isprintable():
        raise UserError(f"Expected one line of text in ${variable} for {config.model!r}, got several.")
    return value
