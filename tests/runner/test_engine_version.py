"""Every change of extraction and grading is decided about: do stored verdicts still hold?"""

import hashlib
from pathlib import Path

import triathlon_runner
from triathlon_runner.engine_version import ENGINE_VERSION, graded_otherwise

PACKAGE = Path(triathlon_runner.__file__).parent

DECIDED = (2, "e3859cfff2a724ca61c288e2eba55a6acccb78ce35bbeb72d8ca2af083598705")
SOURCES = (
    *(f"**/{name}.py" for name in ("_answer", "_answers", "_extract", "_grade")),
    "grading/**/*.py",
    "languages.py",
    "loop/_judge.py",
    "loop/_prompt.py",
    "replies/**/*.py",
    "runtime/_assertions.py",
    "runtime/_expressions.py",
    "runtime/_literals.py",
    "runtime/_masked.py",
    "runtime/_outputs.py",
    "runtime/_sandboxed/__init__.py",
    "runtime/_sandboxed/literal.py",
    "runtime/_sandboxed/programs.py",
    "syntax.py",
    "translation/_languages.py",
    "translation/_task.py",
)
"""What takes answers out of replies and grades them, in every discipline; commands and imports do not."""


def engine_digest() -> str:
    paths = {path for pattern in SOURCES for path in PACKAGE.glob(pattern)}
    judging = [path for path in paths if path.relative_to(PACKAGE).parts[0] not in {"cli", "imports"}]
    contents = sorted(hashlib.sha256(path.read_bytes()).digest() for path in judging)
    return hashlib.sha256(b"".join(contents)).hexdigest()


def test_a_change_of_extraction_or_grading_is_decided_about() -> None:
    """Where a reply may be graded otherwise, the version is raised; the digest is written down either way."""
    assert (ENGINE_VERSION, engine_digest()) == DECIDED, (
        "The sources of extraction and grading have changed. If any reply could get another verdict, raise"
        " ENGINE_VERSION in triathlon_runner/engine_version.py by one. Then write what stands on the left"
        " here."
    )


def test_other_versions_are_named() -> None:
    """Verdicts of this version need no word; of others, and of those that nobody wrote down, they do."""
    assert graded_otherwise([ENGINE_VERSION]) == ""
    assert graded_otherwise([]).startswith("graded by version unknown")
    assert graded_otherwise([0, ENGINE_VERSION]).startswith(f"graded by version unknown, {ENGINE_VERSION}")
