"""Our problems are nobody else's: measured against the public data sets, where they are at hand."""

from functools import cache

import pytest

import core_checks as checks
from support.official_data import official_store
from triathlon_runner.datasets import core

pytestmark = pytest.mark.official


@cache
def _public() -> tuple[list[str], set[str]]:
    """The texts and the function names of the public sets."""
    folder = official_store().folder
    assert folder is not None
    rows = checks.public_rows(folder)
    texts = [text for row in rows for text in checks.public_texts(row)]
    return texts, {row["entry_point"] for row in rows if "entry_point" in row}


def test_no_docstring_shares_eight_words_in_a_row() -> None:
    """No prompt of ours shares a run of eight words with a public one; there is no list of exceptions."""
    texts, _ = _public()
    ours = {problem.task_id: problem.prompt for name in core.SETS for problem in core.problems(name)}
    joined = checks.shared_runs(" . ".join(ours.values()), texts)
    assert len(texts) > 1000
    assert {task_id for task_id, prompt in ours.items() if checks.shared_runs(prompt, joined)} == set()


def test_no_function_has_a_public_name() -> None:
    """No function that we ask for is named like a public one."""
    _, names = _public()
    ours = {problem.entry_point for name in core.SETS for problem in core.problems(name)}
    assert ours & names == set()
