"""What a provider is: a file with a subclass of `ApiConfig`, and a line in `PROVIDERS` of `llm/__init__.py`.

The subclass has the provider's own options of the `api:` block, builds its requests and reads its replies.
All that it needs is here; an example of 30 lines is `tests/support/bracket_provider.py`. `Secrets` removes
the keys that a row names from messages and evidence.
"""

import base64
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Annotated, Any, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, field_validator, model_validator

from triathlon_runner.errors import UserError
from triathlon_runner.llm._api import Answer, Chat, Completion, Sampling, estimated_tokens
from triathlon_runner.pasted_keys import REMOVED, remove_keys
from triathlon_runner.records import Strict
from triathlon_runner.terminal import first_of
from triathlon_runner.yaml_file import matching

_SUITE_FIELDS = {
    *("max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "stop_sequences", "seed"),
    *("messages", "model", "n", "prompt", "stream", "system"),
}
"""Body fields that the protocol of a suite decides, never the `body` of a row."""
_REQUEST = re.compile(r"(/chat)?/completions$|/messages$")
"""Endings that are no part of a base address: requests add them to it."""
_SECRET = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
_HOSTS_OF_KEYS = {
    "OPENAI": "openai.com azure.com",
    "AZURE_OPENAI": "azure.com",
    "ANTHROPIC": "anthropic.com",
    "GEMINI": "googleapis.com",
    "GOOGLE": "googleapis.com",
    "DEEPSEEK": "deepseek.com",
    "OPENROUTER": "openrouter.ai",
    "MISTRAL": "mistral.ai",
    "GROQ": "groq.com",
    "XAI": "x.ai",
    "TOGETHER": "together.xyz together.ai",
    "FIREWORKS": "fireworks.ai",
    "COHERE": "cohere.com cohere.ai",
    "CEREBRAS": "cerebras.ai",
    "NVIDIA": "nvidia.com",
    "PERPLEXITY": "perplexity.ai",
    "DASHSCOPE": "aliyuncs.com",
    "MOONSHOT": "moonshot.ai moonshot.cn",
    "HF": "huggingface.co",
    "HUGGINGFACE": "huggingface.co",
    "REPLICATE": "replicate.com",
    "AWS": "amazonaws.com",
    "GITHUB": "github.com github.ai",
}
"""By how the name of a variable begins: the domains of the provider whose key it holds."""
_SAME_MODEL = ("", ":latest", "@main")
"""What a server may put behind a model's name: it is the same model."""
_NAMES_SHOWN = 10
_SHORTEST_SCRUBBED, _SHORTEST_IN_EVIDENCE = 4, 12
"""Characters of a key that is removed from messages; from evidence, where `EMPTY` is a word like others."""
_OF_THE_ASKER = frozenset(["http-referer", "referer", "user-agent", "x-title"])
"""Headers that say who asks; OpenRouter shows them on its pages."""

T = TypeVar("T")
Many = Annotated[tuple[T, ...], Field(strict=False)]
"""A YAML list, read as a tuple."""


def _is_variable(name: str) -> str:
    """Refuses what may be the key itself; the message does not contain it."""
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise ValueError(
            "expected the name of an environment variable in capitals, such as OPENAI_API_KEY; "
            "the key itself is only ever read from it"
        )
    return name


Variable = Annotated[str, AfterValidator(_is_variable)]
"""The name of an environment variable."""
HeaderName = Annotated[
    str, AfterValidator(matching(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", "a name of letters, digits and '-'"))
]
"""RFC 9110, section 5.6.2: `token`."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question, ready to be sent to one provider."""

    prompt: Chat | Completion
    sampling: Sampling
    """Its token limit includes the row's `reasoning_max_tokens`."""
    path: str
    """Below the base URL."""
    body: dict[str, Any]

    @property
    def asked_tokens(self) -> int:
        """About how many tokens are sent, by the length of the texts."""
        if isinstance(self.prompt, Completion):
            return estimated_tokens(self.prompt.text)
        return estimated_tokens(*(message.content for message in self.prompt.messages))

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens question and longest reply take together."""
        return self.asked_tokens + self.sampling.max_tokens


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A reply, whatever its status."""

    status: int
    body: bytes
    headers: Mapping[str, str]


Send = Callable[[str, dict[str, Any] | None, float], Awaitable[HttpReply]]
"""`send(path, body, seconds)`: sends a POST request with a JSON body, or a GET request, and waits so long for
the whole reply; raises `Unreachable` or `Lost` where none came."""
Fetch = Callable[..., Awaitable[HttpReply]]
"""`fetch(path, body=None, *, seconds=10.0, is_guess=False)`: asks for what a server says of itself, until it
replies. `is_guess`: it may have nothing there, and that it is busy may be how a proxy before it says so."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server reports about the model that it serves; empty fields where it does not."""

    server: str = ""
    """Kind of server: `vllm`, `sglang`, `llama.cpp` or `ollama`; empty for OpenRouter, which has `hosts`."""
    version: str = ""
    """Of the server; a newer one serves the same model."""
    digest: str = ""
    """Of the weights."""
    quantization: str = ""
    context: int | None = None
    """Tokens that prompt and reply may have together."""
    hosts: str = ""
    """OpenRouter's hosts, of which it chooses one for each request, with their quantisations."""
    listed: tuple[str, ...] = ()
    """The names of the models that it lists."""

    @property
    def name(self) -> str:
        """Server and version, or the hosts that may answer; empty where nothing is known."""
        return " ".join((self.hosts or f"{self.server} {self.version}").split())

    def lists(self, config: "ApiConfig") -> bool:
        """Returns whether it lists the row's model, or has no list; Google's has `models/` before each."""
        names = (config.model, *config.served_as)
        same = {f"{folder}{name}{tag}" for name in names for folder in ("", "models/") for tag in _SAME_MODEL}
        return not self.listed or bool(same & set(self.listed))

    @property
    def names(self) -> str:
        """Which models it lists, as part of a sentence; empty where it has no list."""
        names = first_of([repr(remove_keys(name)) for name in self.listed], _NAMES_SHOWN)
        return f"it lists {', '.join(names)}" if names else ""

    @property
    def identity(self) -> str:
        """One line with all that makes it another model if it changes; empty where nothing is known.

        Without OpenRouter's hosts: the list changes often, and those that the row pins are in its `body`.
        """
        context = None if self.hosts else self.context
        parts = {"server": self.server, "digest": self.digest, "quantization": self.quantization}
        stated = {**parts, "context": context}
        return ", ".join(f"{name} {value}" for name, value in stated.items() if value)


class ApiConfig(Strict):
    """What the `api:` blocks of all providers share; the options of one provider stand in its own file."""

    model_config = ConfigDict(hide_input_in_errors=True)  # it may be a key

    provider: str
    """Which protocol it speaks: `openai` (most do, local servers too) or `anthropic`. Each has further
    options, which rows of the other may not have."""
    base_url: str
    """Address up to and including the version, such as `https://api.openai.com/v1`."""
    model: str = Field(min_length=1)
    """The model's name at this provider."""
    key_env: Variable | None = None
    """Name of the environment variable that holds the key; the key itself never stands in a file."""
    send_key_to: str | None = None
    """Host that may get the key although it is not its provider's, such as that of a proxy."""
    revision: str = ""
    """Version of the weights or deployment where the name does not say it; part of the cache key."""
    served_as: Many[str] = ()
    """Further names under which the server may answer; a reply in any unrelated name is not used."""

    unsupported: Many[str] = ()
    """Decoding settings that the provider refuses: left out of all requests."""
    reasoning_max_tokens: int = Field(default=0, ge=0)
    """Tokens that a reasoning model may spend before its answer, on top of the suite's limit."""
    headers: dict[HeaderName, str] = Field(default_factory=dict)
    """Extra HTTP headers; no secrets here. Other ones make another model: see `shaping_headers`."""
    secret_headers: dict[HeaderName, Variable] = Field(default_factory=dict)
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
        if re.search("[@?#]", value):  # not shown: it may hold a password
            raise ValueError(
                "a base_url must hold no user, password or query: name the key's variable in key_env (Azure"
                " needs no api-version at https://NAME.openai.azure.com/openai/v1)"
            )
        parts = urlsplit(value)
        try:
            is_possible = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
            (parts.hostname or "").encode("idna")
        except ValueError:
            is_possible = False
        if not is_possible:
            raise ValueError(f"expected an http(s) address such as https://api.openai.com/v1, got {value!r}")
        value = value.rstrip("/")
        if ending := _REQUEST.search(value):
            raise ValueError(
                f"expected an address without the {ending[0]} that requests add to it, got {value!r}; write"
                f" {value.removesuffix(ending[0])!r}"
            )
        return value

    @field_validator("headers")
    @classmethod
    def _can_be_sent_and_seen(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if _SECRET.search(name):
                raise ValueError(f"{name} may hold a key: use secret_headers and an environment variable")
            if not _fits_a_header(text):
                raise ValueError(f"expected one line of ASCII text for the header {name!r}, got {text!r}")
        return value

    @field_validator("body")
    @classmethod
    def _leaves_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(_SUITE_FIELDS & value.keys()):
            raise ValueError(f"body may not set {', '.join(taken)}: the suite's protocol decides these")
        return value

    @model_validator(mode="after")
    def _keys_go_to_their_providers(self) -> Self:
        host = urlsplit(self.base_url).hostname or ""
        for variable in self.variables:
            hosts = (_HOSTS_OF_KEYS[name] for name in _HOSTS_OF_KEYS if f"{variable}_".startswith(f"{name}_"))
            domains = next(hosts, "").split()
            is_theirs = any(host == domain or host.endswith(f".{domain}") for domain in domains)
            if domains and not is_theirs and self.send_key_to != host:
                raise ValueError(
                    f"expected the key in ${variable} to go to {' or '.join(domains)}, got the host {host!r}:"
                    " name a variable of its own in key_env, or, if that host may have this key, add"
                    f" `send_key_to: {host}`"
                )
        return self

    @property
    def variables(self) -> list[str]:
        """The environment variables that the row names."""
        return [*filter(None, (self.key_env, *self.secret_headers.values()))]

    def missing_variables(self) -> list[str]:
        """Returns those of the row's environment variables that are not set."""
        return [name for name in self.variables if not os.environ.get(name, "").strip()]

    @property
    def shaping_headers(self) -> dict[str, str]:
        """Returns the headers that may choose a model or a setting: those that only name the asker do not."""
        return {name: value for name, value in self.headers.items() if name.lower() not in _OF_THE_ASKER}

    def key_headers(self, key: str) -> dict[str, str]:
        """Returns the headers that show the key, and what else the server wants in every request."""
        raise NotImplementedError

    def request(self, prompt: Chat | Completion, sampling: Sampling) -> Request:
        """Returns the request for a question, without the settings that the row calls unsupported.

        Raises:
            ModelUnavailableError: such questions cannot be asked of this provider at all.
        """
        raise NotImplementedError

    def read(self, request: Request, body: dict[str, Any]) -> Answer:
        """Returns what a good reply says; errors, with their own status or in a good reply, are read before.

        Raises:
            Retryable: another try may do better.
        """
        raise NotImplementedError

    async def server_info(self, fetch: Fetch) -> ServerInfo:
        """Asks the server which model it serves; what it does not report is left empty."""
        del fetch
        return ServerInfo()


def _fits_a_header(text: str) -> bool:
    return text.isascii() and text.isprintable()


def is_loopback(base_url: str) -> bool:
    """Whether the address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_on_own_network(base_url: str) -> bool:
    """Whether who runs the server can be asked to set it otherwise: it is on this machine or network."""
    host = urlsplit(base_url).hostname or ""
    try:
        return not ip_address(host).is_global  # those of a VPN (100.64.0.0/10) are not called private, either
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".home.arpa", ".ts.net"))


class Secrets:
    """The keys of one model, read from the environment; removes them from messages and evidence."""

    def __init__(self, config: ApiConfig) -> None:
        """Reads the variables that the row names.

        Raises:
            UserError: one of them is not set, or holds what no header can.
        """
        if missing := config.missing_variables():
            names = ", ".join(f"${name}" for name in missing)
            raise UserError(f"Expected the environment to hold {names} for {config.model!r}: not set.")
        values = {name: os.environ[name].strip() for name in config.variables}
        for name, value in values.items():
            if not _fits_a_header(value):
                raise UserError(
                    f"Expected one line of ASCII text in ${name} for {config.model!r}, got others (not"
                    " shown); copy the key again."
                )
        self.key = values[config.key_env] if config.key_env else ""
        """Empty where the server wants none."""
        self.headers = {header: values[name] for header, name in config.secret_headers.items()}
        """Headers whose values are secret."""
        self._in_messages = _pattern({*values.values()}, _SHORTEST_SCRUBBED)
        self._in_evidence = _pattern({*values.values()}, _SHORTEST_IN_EVIDENCE)

    def __reduce__(self) -> str:
        raise TypeError("secrets are not pickled")

    def scrub_message(self, text: str) -> str:
        """Removes the keys from a message about a server, and all else in it that looks like one.

        Not for replies: what a model wrote is graded as it is.
        """
        return remove_keys(self._in_messages.sub(REMOVED, text))

    def scrub_evidence(self, text: str) -> str:
        """Removes the keys from what a program returned: a server may have sent them inside a program."""
        return self._in_evidence.sub(REMOVED, text)


def _pattern(keys: set[str], shortest: int) -> re.Pattern[str]:
    """Matches keys in every encoding that a server may give them back in: as text, in base64 and in hex."""
    forms: set[str] = set()
    for key in keys:
        if len(key) < shortest:
            continue
        raw = key.encode()
        forms |= {f"(?i:{''.join(map(_any_form, key))})", f"(?i:{raw.hex()})"}
        for offset in range(3):  # where in a group of three bytes the key begins; the ends have neighbours
            encoded = base64.b64encode(b"\0" * offset + raw).decode()
            inner = encoded[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
            if len(inner) >= _SHORTEST_SCRUBBED:
                forms |= {re.escape(inner), re.escape(inner.translate(str.maketrans("+/", "-_")))}
    return re.compile("|".join(sorted(forms, key=len, reverse=True)) or "(?!)")


def _any_form(character: str) -> str:
    r"""A character as it is, or as JSON (`\u002f`), an address (`%2F`) or HTML (`&#47;`) has it.

    A NUL may follow, as in UTF-16. Repetitions are bounded: time is in proportion to the text.
    """
    number = ord(character)
    in_address = "".join(f"%(?:25){{0,3}}{byte:02x}" for byte in character.encode())
    return (
        rf"(?:\\{{0,4}}(?:{re.escape(character)}|u{number:04x}|x{number:02x})|{in_address}"
        rf"|&#(?:0{{0,4}}{number}|x0{{0,4}}{number:x});?{r'|[+]' * (character == ' ')})\0?"
    )
