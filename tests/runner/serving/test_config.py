"""What a `serve:` block may say."""

from typing import Any

import pytest
from pydantic import ValidationError

from triathlon_runner.serving import ServeConfig

_PARTS = [{"package": "p", "version": "1", "file": "p/model.gguf"}]
_PYPI: dict[str, Any] = {"pypi": {"parts": _PARTS, "sha256": "0" * 64, "format": "gguf"}}


def _config(**block: Any) -> ServeConfig:
    return ServeConfig.model_validate({"engine": "vllm", "weights": {"path": "/models/m"}, **block})


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
