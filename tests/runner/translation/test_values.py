"""Values that cross between languages, and when two of them are the same."""

from typing import Any

import pytest

from triathlon_runner.sandbox import Language, Opaque
from triathlon_runner.translation._task import crosses, plain, same

PYTHON, PHP, RUBY, JAVASCRIPT, PERL = Language
UNDEFINED, FUNCTION = Opaque("undefined"), Opaque("function")
CROSS = (None, True, 2**53, 1.5, "é", [1, ["a", (2, None)]], {"a": [1]})
DO_NOT_CROSS = (2**53 + 1, float("nan"), float("inf"), {1: "a"}, {1, 2}, b"a", 1j, FUNCTION)


def test_what_every_language_has() -> None:
    """Null, truth values, exact numbers, texts, lists and maps of texts cross; nothing else does.

    JSON has one kind of sequence.
    """
    assert [value for value in CROSS if not crosses(value)] == []
    assert [value for value in DO_NOT_CROSS if crosses(value)] == []
    assert plain(((1, 2), {"a": (3,)})) == [[1, 2], {"a": [3]}]


SAME: list[tuple[Any, Any, Language]] = [
    *((1, 1, PYTHON), (1, 1.0, JAVASCRIPT), (1.0, 1, PHP), (0.1 + 0.2, 0.3, PERL)),
    *((True, 1, PERL), (True, "1", PERL), (False, "", PERL), (False, 0, PERL), (False, None, PERL)),
    *((None, None, RUBY), (None, UNDEFINED, JAVASCRIPT), ("a", "a", RUBY), (3, "3", PERL), ("3", 3, PERL)),
    *(([1, 2], [1, 2], RUBY), ([1, 2], (1, 2), PYTHON), ({}, [], PHP), ({"0": "a"}, ["a"], PHP)),
    *(({"1": "a"}, {1: "a"}, PHP), ({"a": [True]}, {"a": [1]}, PERL)),
]
DIFFERENT: list[tuple[Any, Any, Language]] = [
    *((1, True, PYTHON), (True, 1, PHP), (False, None, RUBY), (True, 2, PERL), (True, [1], PERL)),
    *((None, FUNCTION, JAVASCRIPT), (None, 0, PERL), (3, "3", PHP), (3, "three", PERL), ("3", 3, RUBY)),
    *(("03", 3, PERL), ("", None, PERL), ("", [], PERL), ("", 1.5, PERL), ("ab", ["a", "b"], RUBY)),
    *((0.3, 0.31, PERL), (1.5, float("nan"), PHP), (1.5, "9" * 5000, PERL), ([], None, PERL)),
    *(([1, 2], [2, 1], RUBY), ([1, 2], [1], RUBY), ({}, [], RUBY), ({"a": 1}, {"a": 1, "b": 2}, RUBY)),
]


@pytest.mark.parametrize(
    ("expected", "got", "language", "equal"),
    [*((*case, True) for case in SAME), *((*case, False) for case in DIFFERENT)],
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
