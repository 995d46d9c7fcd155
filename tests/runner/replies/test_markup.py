"""Markup of replies: reasoning, wrappers of the final answer, tokens that end a turn."""

import random
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.case_files import listed
from support.steps import steps_of
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies import (
    extract_program,
    final_answer,
    split_reasoning,
    unknown_marker,
    visible_text,
)
from triathlon_runner.runtime._grade import Graded, extract_answer

MARKERS = listed(Path(__file__).with_name("markers.txt"))
SHAPES = listed(Path(__file__).with_name("shapes.txt"))
PAIRS = [tuple(line.split("…")) for line in MARKERS["reasoning"]]
CHANNELS = PAIRS[-2]
END_TOKENS = MARKERS["end of a turn"]
WRAPPERS = [tuple(line.split("…")) for line in MARKERS["final answer"]]
DRAFT = "```python\ndef add(a, b):\n    return a - b\n```"
ADD = "def add(a, b):\n    return a + b\n"
PROMPT = 'def add(a, b):\n    """Sum of both."""\n'


def program(text: str, **options: bool) -> str:
    return extract_program(Reply(text=text), entry_point="add", prompt=PROMPT, **options).program


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_reasoning_is_no_answer(begin: str, end: str) -> None:
    """Between its markers, in front of an end alone, behind a beginning alone; drafts in it do not count."""
    assert split_reasoning(f"{begin}Why{end}42") == ("42", "Why")
    assert split_reasoning(f"{begin}Why\n{end}\n\n42\n") == ("42", "Why")
    assert split_reasoning(f"{begin}Why") == ("", "Why")
    assert split_reasoning(f"Why\n{end}\n42") == ("42", "Why")
    assert program(f"{begin}Let me\n{DRAFT}\nno, plus{end}{ADD}") == ADD
    assert program(f"{begin}Let me\n{DRAFT}\nno, plus\n{end}\n```python\n{ADD}```") == ADD
    for gap in ("", "\n"):
        assert program(f"{begin}Let me\n{DRAFT}{end}{gap}```python\n{ADD}```") == ADD
    assert program(f"Let me\n{DRAFT}\n{end}\n{ADD}") == ADD
    for finish, outcome in ((Finish.STOP, Outcome.NO_ANSWER), (Finish.LENGTH, Outcome.TRUNCATED)):
        only = Reply(text=f"{begin}So\n{DRAFT}\nhm", finish=finish)
        assert extract_program(only, entry_point="add", prompt=PROMPT).outcome is outcome
        answer = extract_answer(only, "direct")
        assert isinstance(answer, Graded) and answer.outcome is outcome


@pytest.mark.parametrize(("begin", "end"), PAIRS[:-2])
def test_nested_and_repeated_reasoning(begin: str, end: str) -> None:
    """An inner pair is part of the outer one; what stands between two is the answer's."""
    assert split_reasoning(f"{begin}a\n{begin}b{end}\nc{end}42")[0] == "42"
    assert split_reasoning(f"{begin}a{end}one\n{begin}b{end}two")[0] == "one\ntwo"
    assert split_reasoning(f"{begin}a{end}{begin}b{end}42")[0] == "42"
    assert split_reasoning(f"One\n{begin}never ended")[0] == "One"


@pytest.mark.parametrize(("begin", "end"), PAIRS[:-1])
@pytest.mark.parametrize("shape", SHAPES["a marker that is quoted"])
def test_a_marker_that_is_quoted_is_text(begin: str, end: str, shape: str) -> None:
    """In a code block, a string, a comment or backticks a marker is no markup, whichever it is."""
    for marker in (begin.strip(), end):
        text = shape.replace("{}", marker)
        assert split_reasoning(text) == (text, "")
        assert split_reasoning(f"<think>\nhm\n</think>\n{text}")[0] == text.strip("\n")


def test_markers_in_odd_places() -> None:
    """Behind an open fence or the answer, in harmony without its tokens; inside a line nothing begins."""
    draft = DRAFT.removesuffix("\n```")
    assert program(f"<think>\n{draft}\n</think>\n```python\n{ADD}```") == ADD
    assert program(f"<think>\n{draft}\n</think>\n{ADD}") == ADD
    assert program(f"<think>\n{draft}\n</think>\n```\n{ADD}```") == ADD
    assert program(f"<think>\n{DRAFT}</think>\n{ADD}") == ADD
    assert program(f"<think>\n\n</think>\n{ADD}</think>") == ADD
    for name in ("analysis", "commentary"):
        draft = f"analysisLet me\n{DRAFT}assistant{name}no, plus\n{DRAFT}assistant{name}so"
        assert program(f"{draft}assistantfinal```python\n{ADD}```") == ADD
        assert program(f"{draft}\n{DRAFT}assistantfinal\n```python\n{ADD}```") == ADD
    for text in ("It uses <think> as a tag.", "I <think> so", "The tag <think> begins it"):
        assert split_reasoning(text) == (text, "")


@pytest.mark.parametrize("token", END_TOKENS)
def test_the_answer_ends_with_the_turn(token: str) -> None:
    """At the first such token, in a code block, too, but not in a string or comment of the program."""
    again = f"<|im_start|>user\nNow subtract.\n<|im_start|>assistant\n{DRAFT}"
    assert program(f"```python\n{ADD}```{token}\n{again}") == ADD
    assert program(f"```python\n{ADD.rstrip()}{token}\n```") == ADD
    assert program(f"{ADD.rstrip()}{token}def add(a, b): return 0") == ADD
    assert program(f"    return a + b{token}\n", completes=True).endswith("    return a + b")
    assert visible_text(f"42{token}13") == "42"
    code = f"def add(a, b):\n    # up to {token} only\n    end = '{token}'\n    return a + b\n"
    assert program(f"```python\n{code}```") == program(code) == code


@pytest.mark.parametrize("head", MARKERS["head of a turn"])
def test_the_header_of_the_turn_is_no_answer(head: str) -> None:
    assert visible_text(f"{head}42").strip() == "42"
    assert program(head + ADD) == ADD


@pytest.mark.parametrize(("begin", "end"), WRAPPERS)
def test_the_final_answer_is_unwrapped(begin: str, end: str) -> None:
    """For one value, for a program with and without a fence; text around it is not the answer."""
    assert final_answer(f"So:\n{begin}42{end}\nDone.").strip() == "42"
    assert program(f"So:\n{begin}{ADD}{end}") == ADD
    assert program(f"{begin}```python\n{ADD}```{end}") == ADD
    assert program(f"{begin}```python\n{ADD}```{end}\nNot like this:\n{DRAFT}") == ADD
    assert extract_answer(Reply(text=f"<think>no</think>\n{begin}[1]; list{end}"), "direct") == "[1]; list"


def test_quotes_and_commands_in_a_wrapper() -> None:
    """MBPP's few-shot form quotes the program, LaTeX sets the type."""
    assert program(f"[BEGIN]\n'{ADD.rstrip()}'\n[DONE]") == ADD
    assert final_answer(r"$\boxed{\text{YES}}$") == "YES"
    assert final_answer(r"\boxed{{1: 2}; dict}") == "{1: 2}; dict"
    assert final_answer("s = '<answer>'") == "s = '<answer>'"


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        *((f"{begin}42{end}", "") for begin, end in (*PAIRS, *WRAPPERS)),
        *((f"{token}42", "") for token in END_TOKENS),
        ("<|im_start|>assistant\n<ponder>hm</ponder>42", "<ponder>"),
        ("[PONDER]hm[/PONDER]42", "[PONDER]"),
        ("<|ponder>hm<ponder|>42", "<|ponder>"),
        ("[YES]", ""),
        ("<T> is a type", ""),
    ],
)
def test_a_marker_that_the_table_lacks(text: str, marker: str) -> None:
    """One that the table has is none of these, nor are brackets that nothing closes."""
    assert unknown_marker(text) == marker


@pytest.mark.parametrize("shape", SHAPES["an answer in markup"])
@pytest.mark.parametrize("answer", ["YES", "-1", "150; int", "return result", "assert f(1) == [2]"])
def test_answers_of_the_runtime_come_without_markup(shape: str, answer: str) -> None:
    assert extract_answer(Reply(text=shape.replace("{}", answer)), "direct") == answer


def mixed(choose: random.Random) -> tuple[str, list[str], list[str]]:
    """A reply that mixes the table's markers, and the words outside and inside of its reasoning."""
    outside: list[str] = []
    inside: list[str] = []
    parts: list[str] = []
    for number in range(choose.randrange(1, 7)):
        word = f"word{number}"
        (begin, end), (open_, close) = choose.choice(PAIRS[:-2]), choose.choice(WRAPPERS)
        token = choose.choice(END_TOKENS)
        shapes = (
            f"{begin}{word}{end}",
            f"{begin}a\n{begin}{word}{end}\nb{end}",
            word,
            f"{word} `{begin.strip()}` '{end}'",
            f"```\n{word}\n{end}\n```",
            f"{open_}{word}{close}",
            f"`{token}` ends it. {word} = '{token}'",
        )
        kind = choose.randrange(len(shapes))
        (inside if kind < 2 else outside).append(word)
        parts.append(shapes[kind])
    if choose.random() < 0.2:
        parts[0] = f"{CHANNELS[0]}first{CHANNELS[1]}{parts[0]}"
        inside.append("first")
    return "\n".join(parts), outside, inside


@pytest.mark.parametrize("examples", [300, pytest.param(2_000, marks=pytest.mark.slow)])
def test_what_is_outside_of_markup_is_never_lost(examples: int) -> None:
    """Every word outside of reasoning is in the answer, no other is; twice the mix takes twice the steps."""

    @settings(max_examples=examples, deadline=None)
    @given(st.integers(0, 2**64))
    def check(seed: int) -> None:
        choose = random.Random(seed)
        text, outside, inside = mixed(choose)
        ended = visible_text(f"{text}\n{choose.choice(END_TOKENS)}\nbehind")
        answer, reasoning = split_reasoning(text)
        assert [word for word in outside if word not in answer] == []
        assert [word for word in inside if word in answer or word not in reasoning] == []
        assert ended.split() == visible_text(text).split()
        few, many = (steps_of(partial(visible_text, f"{text}\n" * times)) for times in (4, 8))
        assert many <= 2.4 * few + 500, (few, many)

    check()
