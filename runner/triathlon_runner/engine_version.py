"""The version of extraction and grading: stored verdicts depend on it, on the reply and on the tests."""

from collections.abc import Iterable
from typing import Final

ENGINE_VERSION: Final = 2
"""Part of every manifest. Raise it by hand whenever a stored or recorded reply is graded otherwise: results
that another version graded are marked, and `triathlon verify --update` grades them again."""


def graded_otherwise(versions: Iterable[int]) -> str:
    """A notice for results that another version of extraction and grading graded; empty for this version.

    Args:
        versions: As a manifest names them; none at all in manifests from before versions were kept.
    """
    distinct = sorted(set(versions))
    if distinct == [ENGINE_VERSION]:
        return ""
    named = ", ".join(f"{version}" if version else "unknown" for version in distinct) or "unknown"
    return (
        f"graded by version {named} of extraction and grading, this is version {ENGINE_VERSION}:"
        " `triathlon verify --update` grades the stored replies anew"
    )
