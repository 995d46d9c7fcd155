"""Values read from text without executing anything."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.case_files import listed
from support.values import nested
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._literals import Named, equal, read_literal
from triathlon_runner.runtime._sandboxed.literal import MAX_TEXT, LiteralWriter

NUMBERS = st.booleans() | st.integers() | st.floats(allow_nan=True, allow_infinity=True)
TEXTS = st.none() | st.text(max_size=8) | st.binary(max_size=8)
TIMES = st.dates() | st.datetimes() | st.timedeltas()
PAIRS = st.tuples(st.integers(), st.text(max_size=2))
VALUES = nested(NUMBERS | TEXTS | TIMES, st.booleans() | st.integers() | st.text(max_size=4) | PAIRS)


@given(VALUES)
def test_what_the_tracer_writes_is_read_back_equal(value: object) -> None:
    """The text of a value is read as what Python's own `repr` spells."""
    assert equal(read_literal(LiteralWriter(100_000).text(value)), read_literal(repr(value)))


SETS, SETS_BACKWARDS = (
    "{" + ", ".join(f"frozenset({{{', '.join(members)}}})" for members in order) + "}"
    for order in ([["0", "8"], ["16", "24"], ["32", "40"]], [["40", "32"], ["24", "16"], ["8", "0"]])
)
"""Members that fall into one place of a small hash table: their order is that in which they came."""


def pairs(name: str) -> list[tuple[str, str]]:
    """Each value of a file with each of those below it."""
    found = listed(Path(__file__).with_name(name))
    return [(truth, value) for truth, values in found.items() for value in values]


SAME = [*pairs("equal_values.txt"), (SETS, SETS_BACKWARDS), (r"'\\d'", r"'\d'")]
"""Floats to 1e-6 at any depth, not a number equal to itself; the ways in which one value is written, also
with an escape that the interpreter remarks on."""
DIFFERENT = [*pairs("different_values.txt"), (str(10**400), "1.5")]
"""What Python tells apart, whichever of both is the truth."""


@pytest.mark.parametrize(
    ("truth", "value", "are_equal"),
    [
        *((*pair, True) for pair in SAME),
        *((*order, False) for pair in DIFFERENT for order in (pair, pair[::-1])),
    ],
)
def test_equal_values(truth: str, value: str, are_equal: bool) -> None:
    assert equal(read_literal(truth), read_literal(value)) is are_equal


@pytest.mark.parametrize(
    "text",
    [
        "", "1 +", "'a' + 1", "2 ** 99_999", "9 ** 9 ** 9", "'ab' * 99_999", "f'{1}'", "[x for x in [1]]",
        "lambda: 1", "x[0]", "a if b else c", "{**{}}", "f(*[1])", "f(**{})", "not True", "-'a'", "-True",
        "print(1)()", "[[]] * 10 ** 6", "{((0,) * 20_000,) * 20_000}", "[" + "[0] * 2, " * 300 + "]",
        str(10**400) + " + 1j", "(" * 300, "1" * 5000, "x = 1", "a; b", "\0",
        "'" + "a" * MAX_TEXT + "'", "[" + "1," * 15_000 + "]", "{(0x" + "f" * 9_000 + ", 1)}",
    ],
)  # fmt: skip
def test_what_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        read_literal(text)


def test_calls_are_names_and_never_made() -> None:
    """A call that reads like a constructor is kept as one; nothing is looked up or called."""
    assert read_literal("os.system('rm -rf /')") == Named("system()", ("rm -rf /",))
    endless = Named("range", range(10**11))
    assert read_literal("list(range(10 ** 11))") == Named("list()", (endless,))
    assert read_literal("deque(iterable=range(10 ** 11))") == Named("deque()", (("iterable", endless),))
    assert read_literal("dict([range(10 ** 11)])") == Named("dict()", ([endless],))
    assert read_literal("bytearray({})") == Named("bytearray()", ({},))
    assert read_literal("Fraction('1e99999999')") == Named("Fraction()", ("1e99999999",))
    assert read_literal("datetime.date(2024, 13, 1)") == Named("date()", (2024, 13, 1))
    assert read_literal("np.float64([1])") == Named("float64()", ([1],))
