"""Making masked assertions out of tests."""

import ast

import pytest

from triathlon_runner.datasets import core
from triathlon_runner.runtime._catalogue import class_program
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._masked import Masked, mask_test, originals, statements_text

KNOWN = "expected = [1]\nresult = c.get()\n"
"""A name that stands for a value, and one that the program computes."""


@pytest.mark.parametrize(
    ("statement", "masked", "expected"),
    [
        ("self.assertEqual(c.get(), 3)", "assertEqual(c.get(), ??)", ("3",)),
        ("self.assertEqual(3, c.get())", "assertEqual(??, c.get())", ("3",)),
        ("self.assertAlmostEqual(c.get(), 0.5, places=3)", "assertAlmostEqual(c.get(), ??, places=3)",
         ("0.5",)),
        ("self.assertListEqual(c.all(), [1, 2])", "assertListEqual(c.all(), ??)", ("[1, 2]",)),
        # an assertion without an expected side is asked as the equality that it claims
        ("self.assertTrue(c.has(1))", "assertEqual(bool(c.has(1)), ??)", ("True",)),
        ("self.assertFalse(c.has(1))", "assertEqual(bool(c.has(1)), ??)", ("False",)),
        ("self.assertIsNone(c.get())", "assertEqual(c.get(), ??)", ("None",)),
        ("self.assertIsNotNone(c.get())", "assertEqual(c.get() is not None, ??)", ("True",)),
        ("self.assertIn(1, c.all())", "assertEqual(1 in c.all(), ??)", ("True",)),
        ("self.assertNotIn(1, c.all())", "assertEqual(1 in c.all(), ??)", ("False",)),
        ("self.assertGreater(c.get(), 2)", "assertEqual(c.get() > 2, ??)", ("True",)),
        ("assert c.get() == 3", "assert c.get() == ??", ("3",)),
        ("assert c.has(1)", "assert bool(c.has(1)) == ??", ("True",)),
        # a side that the program computes stays; where both are computed nothing is asked
        (f"{KNOWN}assertEqual(c.get(), expected)", f"{KNOWN}assertEqual(c.get(), ??)", ("expected",)),
        (f"{KNOWN}assertEqual(expected, c.get())", f"{KNOWN}assertEqual(??, c.get())", ("expected",)),
        (f"{KNOWN}assertEqual(3, result)", f"{KNOWN}assertEqual(??, result)", ("3",)),
        (f"{KNOWN}assertEqual(result, c.get())", "", ()),
        (f"{KNOWN}assert result == c.get()", "", ()),
        ("with self.assertRaises(ValueError):\n    f()", "", ())
    ],
)  # fmt: skip
def test_the_expected_side_is_masked(statement: str, masked: str, expected: tuple[str, ...]) -> None:
    """The shown test stays as it was."""
    body = ast.parse(statement).body
    found = mask_test(body)
    assert (found.text, found.originals) == (masked, expected)
    assert statements_text(body) == statement.replace("self.", "")
    assert ast.unparse(ast.Module(body, [])) == statement


def test_all_assertions_of_a_test_are_masked_save_those_in_loops() -> None:
    """In a loop one expected side would have several values."""
    test = """c = C()
self.assertEqual(c.get(), 1)
with self.subTest():
    self.assertEqual(c.get(), 2)
if c:
    self.assertTrue(c.get())
for i in range(3):
    self.assertEqual(c.get(), i)
with self.assertRaises(ValueError):
    c.fail()
"""
    found = mask_test(ast.parse(test).body)
    assert found.originals == ("1", "2", "True")
    assert found.text.count("??") == 3
    for kept in ("assertEqual(c.get(), i)", "with assertRaises(ValueError):", "self.subTest()"):
        assert kept in found.text


def test_originals_are_read_off_the_unmasked_text() -> None:
    """What stands behind each mask, in order; question marks inside a string are none."""
    complete = "box = Box()\nassertEqual(box.put( 1 ), 1)\nassertEqual(box.things, [1,\n 2])"
    masked = "box = Box()\nassertEqual(box.put(1), ??)\nassertEqual(box.things, ??)"
    assert originals(masked, complete) == ("1", "[1, 2]")
    with pytest.raises(InvalidAnswerError):
        originals(masked, complete.replace("put( 1 )", "put(2)"))
    in_text = Masked("assert f('??', y='a??') == ??", ("'??a??'",))
    assert in_text.completed() == "assert f('??', y='a??') == '??a??'"


def test_masked_calls() -> None:
    """None on our own problems; a question file that somebody wrote may have more masks than expressions."""
    programs = list(map(class_program, core.classes()))
    asked = [(program, one) for program in programs for one in program.inputs if one.masked]
    assert len(asked) > 100
    assert [one.masked for program, one in asked if program.masked_test(one).masked_calls] == []
    assert Masked("assert f(1) == ??\nassert f(2) == ??", ("3",)).masked_calls == []
    assert Masked("assert ?? == 3\nassert f(2) == ??", ("f(1)",)).masked_calls == [0]
