"""What counts as a step, how values are recorded, limits of the tracer, and what a run leaves behind."""

from pathlib import Path

import pytest

from support.case_files import programs, rows, sections
from support.traced import lines, texts, traced, traced_test
from triathlon_runner.runtime import Value
from triathlon_runner.runtime._construct import read_run
from triathlon_runner.runtime._sandboxed import tracer

States = dict[tuple[int, str], list[str]]
"""Line and variable, with the values after the line."""
PROGRAMS = sections(Path(__file__).with_name("traced_programs.txt"))
CASES = programs(Path(__file__).with_name("traced_steps.txt"))


@pytest.mark.parametrize(("program", "arguments", "steps", "states"), CASES.values(), ids=CASES)
def test_steps(program: str, arguments: tuple[object, ...], steps: list[int], states: States) -> None:
    """Statements in the order in which they are begun; each rule stands above its program."""
    found = traced(program, repr(arguments), {line: [name] for line, name in states})
    assert found.outcome == "returned"
    assert lines(found) == steps
    assert {place: texts(found, *place) for place in states} == states


def test_with_runs_its_exit_where_python_does() -> None:
    """How often the header is come back to differs between versions of Python."""
    found = traced(PROGRAMS["with"], watches={8: ["x"]})
    assert [line for line in lines(found) if line != 7] == [3, 8, 9, 5, 10]
    assert texts(found, 8, "x") == ["7; int"]


def test_successors_go_over_frames_in_the_order_of_execution() -> None:
    """A line that calls is followed by the callee's first line, a return by the caller's next line."""
    program = "def f(n):\n    a = g(n)\n    b = g(a)\n    return b\ndef g(n):\n    return n + 1"
    found = traced(program, "(1,)")
    assert lines(found) == [2, 6, 3, 6, 4]
    assert [found.successors(line) for line in (2, 6, 4, 5)] == [[6], [3, 4], [-1], [-1]]
    assert not found.at(5)


def test_a_reference_that_raises_is_an_outcome() -> None:
    for raised, error in (("KeyError('k')", "KeyError: 'k'"), ("SystemExit(3)", "SystemExit: 3")):
        found = traced(f"def f():\n    x = 1\n    raise {raised}")
        assert (found.outcome, found.error, lines(found)) == ("raised", error, [2, 3])


def test_attributes_of_self_are_variables_and_self_is_not() -> None:
    """They are named as the program writes them, private ones too."""
    found = traced_test(
        PROGRAMS["attributes"],
        PROGRAMS["test of attributes"],
        "self.c.up()\nassertEqual(self.c.n, 2)\n",
        {6: ["self.n", "self.__hidden"]},
    )
    assert lines(found) == [6, 7]
    assert texts(found, 6, "self.n") == ["2; int"]
    assert texts(found, 6, "self.__hidden") == ["[1]; list"]
    assert set(found.steps[0].before) == {"self.n", "self.__hidden"}


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("value_texts.csv")), ids=str)
def test_values_have_one_text(row: dict[str, str]) -> None:
    program = PROGRAMS["values"].replace("VALUE", row["expression"])
    found = traced(program, watches={10: ["x"]})
    assert texts(found, 10, "x") == [f"{row['text']}; {row['type']}"]


@pytest.mark.parametrize(
    ("value", "observed"),
    [
        *((value, []) for value in ("iter([1])", "(a for a in [1])", "len", "f", "datetime", "[].append")),
        # a library's value is its `repr`, so that an answer can repeat it, inside of a list too
        ("re.match('a', 'ab')", [("<re.Match object; span=(0, 1), match='a'>", False)]),
        ("[re.match('a', 'a'), 1]", [("[<re.Match object; span=(0, 1), match='a'>, 1]", False)]),
        # one that contains itself is nested too deep, not endless
        ("[0]; x[0] = x", [("[[...]]", False)]),
        # one that is too large is not written out to see that: `repr` would take longer than the program
        ("[1] * 10_000 + [re.match('a', 'a')]", [("", False)]),
    ],
)
def test_values_without_a_literal_form(value: str, observed: list[tuple[str, bool]]) -> None:
    """Iterators, functions and modules are no variables."""
    found = traced(f"import datetime, re\ndef f():\n    x = {value}\n    return x", watches={4: ["x"]})
    assert [row[1:] for row in found.observed(4, "x")] == observed
    assert ("x" in found.steps[-1].before) is bool(observed)


def test_watching_never_calls_the_program() -> None:
    """An expression with a call is not read, one that fails has no value, objects have no literal form."""
    read = {"x[key(1)]": [], "x[3]": [], "x[1]": ["2; int"], "(x, x[1])": ["({1: 2}, 2); tuple"]}
    found = traced(PROGRAMS["watching"], watches={9: ["counted"], 10: list(read)})
    assert [row[1:] for row in found.observed(9, "counted")] == [("", False)]
    assert {name: texts(found, 10, name) for name in read} == read
    assert found.result == ("int", "0", True)
    read = {
        "d[index]": [],
        "b.p": [],
        "b.c": [],
        "b.own": ["3; int"],
        "b.box": ["; Box"],
        "b[index]": [],
        "(x[0:index], x[index - 1])": ["([4], 4); tuple"],
    }
    found = traced(PROGRAMS["computed"], watches={14: list(read)})
    assert {name: texts(found, 14, name) for name in read} == read
    assert found.result == ("tuple", "(0, 0)", True)


def test_limits_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the program catches everything; a run of as many steps as are allowed is whole."""
    monkeypatch.setattr(tracer, "MAX_STEPS", 100)
    found = traced(PROGRAMS["limits"])
    assert (found.outcome, found.error) == ("limit", "too many steps")
    program = "def f():\n    for _ in range(4):\n        pass\n    return 0"
    steps = len(traced(program).steps)
    for most, outcome in ((steps, "returned"), (steps - 1, "limit")):
        monkeypatch.setattr(tracer, "MAX_STEPS", most)
        assert traced(program).outcome == outcome


def test_every_run_starts_from_a_fresh_program() -> None:
    """Module state does not leak from one run into the next, and random numbers repeat."""
    program = "import random\nseen = []\ndef f():\n    seen.append(random.random())\n    return seen"
    first, second = traced(program).result, traced(program).result
    assert first is not None and first == second and "," not in first[1]


def test_a_broken_trace_is_refused() -> None:
    """A program can reach the tracer's own lists; what is no trace any more gives no questions."""
    run = {"function": "f", "arguments": "()"}
    plain = tracer.questions("def f():\n    x = 1\n    return x", run, [(2, "x")], 0)
    assert read_run(plain).statements[0].states == (Value(type="int", text="1"),)
    (one,) = plain["statements"]
    for wrong in (
        {"line": "x"},
        {"states": ((1, 2, 3),)},
        {"states": None},
        {"next_lines": ("a",)},
        {"x": 1},
    ):
        assert read_run({**plain, "statements": ({**one, **wrong},)}).outcome == "lost"
    assert read_run("nothing").outcome == "lost"


@pytest.mark.parametrize(
    ("attribute", "error"),
    [("raise SystemExit", "SystemExit"), ("return len(self.__dict__)", "RecursionError")],
)
def test_values_that_fight_being_looked_at_spoil_the_trace(attribute: str, error: str) -> None:
    """Python then stops tracing: the reason names that, and no half of a trace is taken for the whole."""
    found = traced(PROGRAMS["odd values"].replace("ATTRIBUTE", attribute))
    assert (found.outcome, found.error) == ("untraceable", f"its values can't be looked at ({error})")
