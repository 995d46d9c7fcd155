"""Making masked assertions out of tests."""

import ast
from pathlib import Path

import pytest

from support.case_files import rows
from triathlon_runner.datasets import core
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime._masked import Masked, originals
from triathlon_runner.runtime._programs import class_program, mask_test, statements_text


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("masked_assertions.csv")), ids=str)
def test_the_expected_side_is_masked(row: dict[str, str]) -> None:
    """An assertion without one is asked as the equality that it claims."""
    found = mask_test(ast.parse(row["statement"]).body)
    assert (found.text, found.originals) == (row["masked"], (row["original"],))


@pytest.mark.parametrize(
    ("assertion", "masked", "originals"),
    [
        ("assertEqual(c.get(), expected)", "assertEqual(c.get(), ??)", ("expected",)),
        ("assertEqual(expected, c.get())", "assertEqual(??, c.get())", ("expected",)),
        ("assertEqual(3, result)", "assertEqual(??, result)", ("3",)),
        ("assertEqual(result, c.get())", "assertEqual(result, c.get())", ()),
        ("assert result == c.get()", "assert result == c.get()", ()),
    ],
)
def test_no_call_is_masked(assertion: str, masked: str, originals: tuple[str, ...]) -> None:
    """A side that the program computes stays; where both are computed nothing is asked."""
    test = f"expected = [1]\nresult = c.get()\n{assertion}\nassertIsNone(c.get())"
    found = mask_test(ast.parse(test).body)
    assert found.originals == (*originals, "None")
    assert masked in found.text


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
    assert (found.originals, found.text.count("??")) == (("1", "2", "True"), 3)
    for kept in ("assertEqual(c.get(), i)", "with assertRaises(ValueError):", "self.subTest()"):
        assert kept in found.text


def test_masking_leaves_the_shown_test_alone() -> None:
    """Text and masked text are made from copies; an assertRaises alone has nothing to ask for."""
    body = ast.parse("self.assertEqual(f(1), 2)").body
    mask_test(body)
    assert statements_text(body) == "assertEqual(f(1), 2)"
    assert ast.unparse(body[0]) == "self.assertEqual(f(1), 2)"
    assert mask_test(ast.parse("with self.assertRaises(ValueError):\n    f()").body).text == ""


def test_masks_in_texts() -> None:
    """Question marks in a string are none; a file may have one too many; originals stand in their order."""
    masked = Masked("assert f('??', y='a??') == ??", ("'??a??'",))
    assert masked.completed() == "assert f('??', y='a??') == '??a??'"
    assert Masked("assert f(1) == ??\nassert f(2) == ??", ("3",)).masked_calls == []
    assert Masked("assert ?? == 3\nassert f(2) == ??", ("f(1)",)).masked_calls == [0]
    complete = "box = Box()\nassertEqual(box.put( 1 ), 1)\nassertEqual(box.things, [1,\n 2])"
    shown = "box = Box()\nassertEqual(box.put(1), ??)\nassertEqual(box.things, ??)"
    assert originals(shown, complete) == ("1", "[1, 2]")
    with pytest.raises(InvalidAnswerError):
        originals(shown, complete.replace("put( 1 )", "put(2)"))


def test_no_question_on_our_own_problems_masks_a_call() -> None:
    programs = list(map(class_program, core.classes()))
    asked = [(program, one) for program in programs for one in program.inputs if one.masked]
    assert len(asked) > 100
    assert [one.masked for program, one in asked if program.masked_test(one).masked_calls] == []
