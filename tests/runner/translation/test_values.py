"""Values that cross between languages, and when two of them are the same."""

from typing import Any

import pytest

from triathlon_runner.sandbox import Language, Opaque
from triathlon_runner.translation._task import crosses, plain, same

PYTHON, PHP, RUBY, JAVASCRIPT, PERL = Language


@pytest.mark.parametrize(
    ("value", "does"),
    [
        (None, True),
        (True, True),
        (2**53, True),
        (2**53 + 1, False),
        (1.5, True),
        (float("nan"), False),
        (float("inf"), False),
        ("é", True),
        ([1, ["a", (2, None)]], True),
        ({"a": [1]}, True),
        ({1: "a"}, False),
        ({1, 2}, False),
        (b"a", False),
        (1j, False),
        (Opaque("function"), False),
    ],
)
def test_what_every_language_has(value: Any, does: bool) -> None:
    """Null, truth values, exact numbers, texts, lists and maps of texts cross; nothing else does."""
    assert crosses(value) is does


def test_tuples_become_lists() -> None:
    """JSON has one kind of sequence."""
    assert plain(((1, 2), {"a": (3,)})) == [[1, 2], {"a": [3]}]


@pytest.mark.parametrize(
    ("expected", "got", "language", "equal"),
    [
        (1, 1, PYTHON, True),
        (1, 1.0, JAVASCRIPT, True),
        (1.0, 1, PHP, True),
        (1, True, PYTHON, False),
        (True, 1, PHP, False),
        (True, 1, PERL, True),
        (True, "1", PERL, True),
        (False, "", PERL, True),
        (False, 0, PERL, True),
        (False, None, PERL, True),
        (False, None, RUBY, False),
        (True, 2, PERL, False),
        (True, [1], PERL, False),
        (None, None, RUBY, True),
        (None, Opaque("undefined"), JAVASCRIPT, True),
        (None, Opaque("function"), JAVASCRIPT, False),
        (None, 0, PERL, False),
        (3, "3", PERL, True),
        (3, "3", PHP, False),
        (3, "three", PERL, False),
        ("3", 3, PERL, True),
        ("3", 3, RUBY, False),
        ("03", 3, PERL, False),
        ("", None, PERL, False),
        ("", [], PERL, False),
        ("", 1.5, PERL, False),
        ("a", "a", RUBY, True),
        (0.1 + 0.2, 0.3, PERL, True),
        (0.3, 0.31, PERL, False),
        (1.5, float("nan"), PHP, False),
        ([1, 2], [1, 2], RUBY, True),
        ([1, 2], (1, 2), PYTHON, True),
        ([1, 2], [2, 1], RUBY, False),
        ([1, 2], [1], RUBY, False),
        ([], None, PERL, False),
        ("ab", ["a", "b"], RUBY, False),
        ({}, [], PHP, True),
        ({}, [], RUBY, False),
        ({"1": "a"}, {1: "a"}, PHP, True),
        ({"0": "a"}, ["a"], PHP, True),
        ({"a": 1}, {"a": 1, "b": 2}, RUBY, False),
        ({"a": [True]}, {"a": [1]}, PERL, True),
    ],
)
def test_sameness(expected: Any, got: Any, language: Language, equal: bool) -> None:
    """Values count as the same where the language has no nearer one, and nowhere else."""
    assert same(expected, got, language) is equal


def test_a_problems_tolerance_counts() -> None:
    """What the problem lets differ in Python may differ in every language."""
    assert same(1.0, 1.05, RUBY, tolerance=0.1)
    assert not same(1.0, 1.05, RUBY)


@pytest.mark.parametrize("language", Language)
def test_numbers_beyond_every_float_are_other_values(language: Language) -> None:
    """An int too large for a float, or too long to be written, equals nothing that a reference returned."""
    for huge in (10**400, -(10**400), 10**5000):
        for expected in (None, True, 1, 1.5, "1", [1], {"1": 1}):
            assert not same(expected, huge, language)
            assert not same([expected], [huge], language)
        assert not same({"1": "a"}, {huge: "a"}, language)
    assert not same(1.5, "9" * 5000, language)
