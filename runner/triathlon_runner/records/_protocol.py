"""The two hashes of a protocol: what a suite asks, and how it grades the answers."""

import csv
import functools
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Annotated, Any, Final, Self

from pydantic import BeforeValidator, ValidationInfo

from triathlon_runner.records._base_model import Strict

KNOWN_PROTOCOLS: Final = "known_protocols.csv"
"""Beside this module: `suite, before, asked, graded`. `before` is empty for a suite of today, else the single
hash that lines of earlier versions have."""
_DIGITS: Final = 16


class ProtocolHashes(Strict):
    """Rows rank together only where both hashes are equal."""

    asked: str
    """Of the prompts, the questions, the data, temperature, top-p and style; of a recording whose prompts are
    not in our files, its source."""
    graded: str
    """Of the truths and of the rule by which answers are compared with them."""

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Returns the hashes of a suite's settings, the same on every machine."""
        return cls(asked=_hash(settings["asked"]), graded=_hash(settings["graded"]))

    def __str__(self) -> str:
        return f"{self.asked}-{self.graded}"


def _hash(fields: str | Mapping[str, Any]) -> str:
    """Returns the hash of some settings; the name of a source stays as it is."""
    if isinstance(fields, str):
        return fields
    text = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


@functools.cache
def known_protocols() -> Mapping[tuple[str, str], ProtocolHashes]:
    """Returns protocols by suite and earlier hash; by suite and "" those of today."""
    text = (files("triathlon_runner.records") / KNOWN_PROTOCOLS).read_text("utf-8")
    return {
        (row["suite"], row["before"]): ProtocolHashes(asked=row["asked"], graded=row["graded"])
        for row in csv.DictReader(text.splitlines())
    }


def _of_earlier_version(value: Any, info: ValidationInfo) -> Any:
    """Returns the two hashes for the one of an earlier version: by the table, else a protocol of its own."""
    if not isinstance(value, str):
        return value
    unknown = ProtocolHashes(asked=value, graded=value)
    return known_protocols().get((str(info.data.get("suite")), value), unknown)


Protocol = Annotated[ProtocolHashes, BeforeValidator(_of_earlier_version)]
"""The field `protocol` of lines and manifests."""
