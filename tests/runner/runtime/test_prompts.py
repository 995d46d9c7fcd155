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

DEMONSTRATION = re.compile(
    r"\[PYTHON\]\n(?P<program>.*?)\n\n(?P<input>[^\n].*?)\n\[/PYTHON\]\n"
    r"\[QUESTION\]\n(?P<question>.*?)\n\[/QUESTION\]\n"
    r"\[THOUGHT\]\n(?P<thought>.*?)\n\[/THOUGHT\]\n\[ANSWER\]\n(?P<answer>.*?)\n\[/ANSWER\]",
    re.DOTALL,
)
MODULE = "import unittest\nclass T(unittest.TestCase):\n    def test(self): pass\n"


def demonstrations(kind: QuestionKind) -> list[dict[str, str]]:
    text = load_prompts("runtime").templates[f"{kind}-examples"]
    found = [match.groupdict() for match in DEMONSTRATION.finditer(text)]
    assert len(found) == text.count("[PYTHON]") >= 2
    for one in found:
        # A program ends where something stands at the left edge that is no part of a class or function.
        lines = f"{one['program']}\n\n{one['input']}".split("\n")
        numbers = [re.sub(r"^\d+\t?", "", line) for line in lines]
        last = max(index for index, line in enumerate(numbers) if line.startswith("    "))
        one["program"], one["input"] = "\n".join(numbers[: last + 1]), "\n".join(lines[last + 2 :])
    return found


@pytest.mark.parametrize("kind", ["coverage", "state", "path"])
def test_the_demonstrations_are_true(kind: QuestionKind) -> None:
    for one in demonstrations(kind):
        line = int(re.search(r"line (\d+)", one["question"])[1])  # type: ignore[index]
        quoted = re.search(r"\(`(.*?)`\)", one["question"])
        assert quoted is not None
        assert one["program"].splitlines()[line - 1].strip() == quoted[1]
        variable = re.search(r"type of `(.*?)`", one["question"])
        name = variable[1] if variable else "x"
        found = traced_test(one["program"], MODULE, one["input"], {line: [name]})
        assert found.outcome == "returned", found.error
        asked = StatementQuestion(
            line=line, variable=name, executed=bool(found.at(line)),
            states=tuple(Value(type=kind, text=text) for kind, text, _ in found.observed(line, name)),
            next_lines=tuple(found.successors(line)),
        )  # fmt: skip
        if kind == "path":
            assert grade_path(one["program"], asked, one["answer"]).correct, one
        else:
            judge = grade_coverage if kind == "coverage" else grade_state
            assert judge(asked, one["answer"]).correct, one


def test_the_demonstrated_assertions_hold() -> None:
    """They complete what is shown, are read as the values of its masks, and run through."""
    for one in demonstrations("output"):
        run = {"test": MODULE, "class": "T", "method": "test", "body": ""}
        masked = Masked(one["input"], originals(one["input"], one["answer"]), one["program"])
        assert masked.originals
        assert fill(masked, one["answer"]).text == one["answer"]
        assert programs.check(one["program"], run, one["answer"], {}) == ""


def test_demonstrations_show_both_answers_and_both_kinds_of_program() -> None:
    assert {one["answer"] for one in demonstrations("coverage")} == {"YES", "NO"}
    assert "Nil" in {one["answer"] for one in demonstrations("state")}
    assert "-1" in {one["answer"] for one in demonstrations("path")}
    for kind in KINDS:
        assert {"class " in one["program"] for one in demonstrations(kind)} == {True, False}


@pytest.mark.parametrize("kind", KINDS)
def test_a_chat_begins_as_others_of_its_kind_and_program(kind: QuestionKind) -> None:
    """System line and demonstrations as turns, then the program: a server's cache of prefixes has them.

    Direct style leaves the thoughts out.
    """
    asker = Asker(load_prompts("runtime"), "direct")
    prompt = asker.prompt(kind, asker.question(kind, PROGRAM, ASKED, STATEMENT), completes=False)
    assert isinstance(prompt, Chat)
    roles = [message.role for message in prompt.messages]
    assert roles == ["system", *["user", "assistant"] * len(demonstrations(kind)), "user"]
    assert all("THOUGHT" not in message.content for message in prompt.messages)
    assert re.match(r"\[PYTHON\]\n(1\t)?def f\(x\):\n", prompt.messages[-1].content)


def test_a_question_stands_behind_its_program() -> None:
    asker = Asker(load_prompts("runtime"), "direct")
    assert asker.question("coverage", PROGRAM, ASKED, STATEMENT) == (
        "[PYTHON]\ndef f(x):\n    y = x\n    return y\n\nf(1)\n[/PYTHON]\n"
        "[QUESTION]\nIs line 2 (`y = x`) executed when `f(1)` is called?\n[/QUESTION]"
    )


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
    """The path's lines have numbers, set-up is done before, and a long call is not repeated."""
    asker = Asker(load_prompts("runtime"), "direct")
    path = asker.question("path", PROGRAM, ASKED, STATEMENT)
    assert "1\tdef f(x):\n2\t    y = x\n3\t    return y\n\nf(1)" in path
    assert "executed next after line 2 (`y = x`)" in path
    tested = PROGRAM.model_copy(update={"test": "import unittest"})
    state = asker.question("state", tested, TEST, STATEMENT)
    assert "# This was done before:\n# self.n = 1\n# print(1)\nassertEqual(f(self.n), 1)\n[/PYTHON]" in state
    assert state.count("when the test at the end runs") == 1
    long = ASKED.model_copy(update={"text": f"f({list(range(200))})"})
    coverage = asker.question("coverage", PROGRAM, long, STATEMENT)
    assert "when the call at the end is made?" in coverage
