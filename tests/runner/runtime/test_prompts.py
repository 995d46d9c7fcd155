"""The prompts: laid out as figure 3 of the REval paper, and true."""

import re

import pytest

from support.traced import traced_test
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.llm import Chat, Completion
from triathlon_runner.prompts import load_prompts
from triathlon_runner.runtime import StatementQuestion, Value
from triathlon_runner.runtime._assertions import fill
from triathlon_runner.runtime._grade import grade_coverage, grade_path, grade_state
from triathlon_runner.runtime._masked import Masked, originals
from triathlon_runner.runtime._programs import output_question
from triathlon_runner.runtime._questions import KINDS, Asker, QuestionKind, Style
from triathlon_runner.runtime._sandboxed import programs

PROGRAM, ASKED = output_question(CruxevalTask("t/f", "def f(x):\n    y = x\n    return y\n", "1", "1"))
STATEMENT = StatementQuestion(
    line=2, variable="y", executed=True, states=(Value(type="int", text="1"),), next_lines=(3,)
)
TEST = ASKED.model_copy(update={"text": "assertEqual(f(self.n), 1)", "setup": "self.n = 1\nprint(1)"})

MODULE = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"


def demonstrations(kind: QuestionKind) -> list[dict[str, str]]:
    """Program, input, question and answer of each; the input stands behind the last empty line."""
    text = load_prompts("runtime").templates[f"{kind}-examples"]
    parts = re.findall(r"\[(PYTHON|QUESTION|THOUGHT|ANSWER)\]\n(.*?)\n\[/\1\]", text, re.DOTALL)
    found = [dict(parts[place : place + 4]) for place in range(0, len(parts), 4)]
    assert len(found) == text.count("[PYTHON]") >= 2
    for one in found:
        shown, _, one["input"] = one["PYTHON"].rpartition("\n\n")
        one["program"] = re.sub(r"^\d+\t", "", shown, flags=re.MULTILINE)
    return found


@pytest.mark.parametrize("kind", ["coverage", "state", "path"])
def test_the_demonstrations_are_true(kind: QuestionKind) -> None:
    for one in demonstrations(kind):
        line = int(re.search(r"line (\d+)", one["QUESTION"])[1])  # type: ignore[index]
        quoted = re.search(r"\(`(.*?)`\)", one["QUESTION"])
        assert quoted is not None
        assert one["program"].splitlines()[line - 1].strip() == quoted[1]
        variable = re.search(r"type of `(.*?)`", one["QUESTION"])
        name = variable[1] if variable else "x"
        found = traced_test(one["program"], MODULE, one["input"], {line: [name]})
        assert found.outcome == "returned", found.error
        asked = StatementQuestion(
            line=line, variable=name, executed=bool(found.at(line)),
            states=tuple(Value(type=kind, text=text) for kind, text, _ in found.observed(line, name)),
            next_lines=tuple(found.successors(line)),
        )  # fmt: skip
        if kind == "path":
            assert grade_path(one["program"], asked, one["ANSWER"]).correct, one
        else:
            judge = grade_coverage if kind == "coverage" else grade_state
            assert judge(asked, one["ANSWER"]).correct, one


def test_the_demonstrated_assertions_hold() -> None:
    """They complete what is shown, are read as the values of its masks, and run through."""
    for one in demonstrations("output"):
        run = {"test": MODULE, "class": "T", "method": "test", "body": ""}
        masked = Masked(one["input"], originals(one["input"], one["ANSWER"]), one["program"])
        assert masked.originals
        assert fill(masked, one["ANSWER"]).text == one["ANSWER"]
        assert programs.check(one["program"], run, one["ANSWER"], {}) == ""


def test_demonstrations_show_both_answers_and_both_kinds_of_program() -> None:
    assert {one["ANSWER"] for one in demonstrations("coverage")} == {"YES", "NO"}
    assert "Nil" in {one["ANSWER"] for one in demonstrations("state")}
    assert "-1" in {one["ANSWER"] for one in demonstrations("path")}
    for kind in KINDS:
        assert {"class " in one["program"] for one in demonstrations(kind)} == {True, False}


@pytest.mark.parametrize("kind", KINDS)
def test_a_chat_begins_as_others_of_its_kind_and_program(kind: QuestionKind) -> None:
    """System line, demonstrations, program: a server has cached them. Direct style has no thoughts."""
    asker = Asker(load_prompts("runtime"), "direct")
    prompt = asker.prompt(kind, asker.question(kind, PROGRAM, ASKED, STATEMENT), completes=False)
    assert isinstance(prompt, Chat)
    roles = [message.role for message in prompt.messages]
    assert roles == ["system", *["user", "assistant"] * len(demonstrations(kind)), "user"]
    assert all("THOUGHT" not in message.content for message in prompt.messages)
    assert re.match(r"\[PYTHON\]\n(1\t)?def f\(x\):\n", prompt.messages[-1].content)


def test_a_base_model_goes_on_from_an_opened_tag() -> None:
    """Direct from [ANSWER], with a chain of thought from [THOUGHT]."""
    opened: dict[Style, str] = {"direct": "[/QUESTION]\n[ANSWER]\n", "cot": "[/QUESTION]\n[THOUGHT]\n"}
    for style, opening in opened.items():
        asker = Asker(load_prompts("runtime"), style)
        prompt = asker.prompt("state", asker.question("state", PROGRAM, ASKED, STATEMENT), completes=True)
        assert isinstance(prompt, Completion)
        assert prompt.text.endswith(opening)
        assert ("[/THOUGHT]" in prompt.text) is (style == "cot")


def test_what_a_question_shows() -> None:
    """Program, input; the path's lines have numbers, set-up is done before, a long call is not repeated."""
    asker = Asker(load_prompts("runtime"), "direct")
    assert asker.question("coverage", PROGRAM, ASKED, STATEMENT) == (
        "[PYTHON]\ndef f(x):\n    y = x\n    return y\n\nf(1)\n[/PYTHON]\n"
        "[QUESTION]\nIs line 2 (`y = x`) executed when `f(1)` is called?\n[/QUESTION]"
    )
    path = asker.question("path", PROGRAM, ASKED, STATEMENT)
    assert "1\tdef f(x):\n2\t    y = x\n3\t    return y\n\nf(1)" in path
    assert "executed next after line 2 (`y = x`)" in path
    paged = PROGRAM.model_copy(update={"program": PROGRAM.program.replace("= x", "= '\f'")})
    path = asker.question("path", paged, ASKED, STATEMENT.model_copy(update={"line": 3}))
    assert "\n3\t    return y\n\nf(1)" in path and "line 3 (`return y`)" in path, "as Python counts lines"
    other_ends = PROGRAM.model_copy(update={"program": PROGRAM.program.replace("\n", "\r")})
    assert len({asker.question("path", each, ASKED, STATEMENT) for each in (PROGRAM, other_ends)}) == 1
    tested = PROGRAM.model_copy(update={"test": "import unittest"})
    state = asker.question("state", tested, TEST, STATEMENT)
    assert "# This was done before:\n# self.n = 1\n# print(1)\nassertEqual(f(self.n), 1)\n[/PYTHON]" in state
    assert state.count("when the test at the end runs") == 1
    long = ASKED.model_copy(update={"text": f"f({list(range(200))})"})
    coverage = asker.question("coverage", PROGRAM, long, STATEMENT)
    assert "when the call at the end is made?" in coverage
