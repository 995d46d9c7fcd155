"""The version of extraction and grading: stored verdicts depend on it, on the reply and on the tests."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ENGINE_VERSION: Final = 1
"""Part of every manifest. Raise it by hand whenever a reply may be graded otherwise than before: results
that another version graded are marked, and `triathlon verify --update` grades them again."""
_SOURCES: Final = (
    "extraction/**/*.py",
    "grading/**/*.py",
    "languages.py",
    "loop/_judge.py",
    "loop/_prompt.py",
    "runtime/_assertions.py",
    "runtime/_check.py",
    "runtime/_fillings.py",
    "runtime/_grade.py",
    "runtime/_literals.py",
    "runtime/_sandboxed/literal.py",
    "runtime/_sandboxed/programs.py",
    "runtime/_states.py",
    "runtime/prediction/_grade.py",
    "syntax.py",
    "translation/_extract.py",
    "translation/_task.py",
    "translation/_values.py",
)
"""What takes answers out of replies and grades them."""


def engine_sources() -> set[Path]:
    """The files of `engine_digest`, relative to this package."""
    folder = Path(__file__).parent
    return {path.relative_to(folder) for pattern in _SOURCES for path in folder.glob(pattern)}


def engine_digest() -> str:
    """Hash of the sources that extract and grade, whatever their files are called.

    A test compares it with the one that was looked at last, so that no change of these sources passes without
    a decision about `ENGINE_VERSION`.
    """
    folder = Path(__file__).parent
    contents = sorted(hashlib.sha256((folder / path).read_bytes()).digest() for path in engine_sources())
    return hashlib.sha256(b"".join(contents)).hexdigest()


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
