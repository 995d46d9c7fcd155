"""The `api:` block of a row."""

from typing import Any

import pytest
from pydantic import ValidationError

from triathlon_runner.endpoints import ApiConfig

GOOD = {"base_url": "https://example.org/v1", "model": "m"}


def test_defaults() -> None:
    """An address and a name are enough; a slash at the end changes nothing."""
    row = ApiConfig.model_validate({**GOOD, "base_url": "https://example.org/v1/"})
    assert row.base_url == "https://example.org/v1"
    assert row.unsupported == () and row.max_tokens_field == "max_tokens"


@pytest.mark.parametrize(
    "wrong",
    [
        {"temprature": 1},
        {"base_url": "example.org/v1"},
        {"base_url": "ftp://example.org"},
        {"model": ""},
        {"unsupported": ["temperture"]},
        {"max_tokens_field": "max"},
        {"requests_per_minute": 0},
        {"requests_per_minute": "60"},
        {"concurrency": -1},
        {"timeout_seconds": 0},
        {"body": {"temperature": 1}},
        {"body": {"n": 2}},
        {"body": {"stream": True}},
        {"headers": {"X-Team\n": "a"}},
        {"headers": {"X Team": "a"}},
        {"headers": {"X-Team": "a\r\nX-Other: b"}},
        {"secret_headers": {"X-Team:": "TEAM"}},
    ],
    ids=str,
)
def test_refuses(wrong: dict[str, Any]) -> None:
    """Unknown keys, wrong kinds and values, and settings that the protocol decides are refused."""
    with pytest.raises(ValidationError):
        ApiConfig.model_validate({**GOOD, **wrong})


@pytest.mark.parametrize("ending", ["/chat/completions", "/completions/", "/messages"])
def test_an_address_of_requests(ending: str) -> None:
    """An address with the path that each request adds is refused, with the one to write."""
    with pytest.raises(ValidationError, match=r"without the /.* write 'https://example.org/v1'"):
        ApiConfig.model_validate({**GOOD, "base_url": f"https://example.org/v1{ending}"})


def test_every_field_is_explained() -> None:
    """Each setting has a sentence that help and documentation can show."""
    assert [name for name, field in ApiConfig.model_fields.items() if not field.description] == []
