"""Taking the answer out of a reply."""

import pytest

from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.runtime._answer import Graded, extract_answer
from triathlon_runner.runtime._asking import Style


def without_answer(reply: Reply, style: Style) -> Graded:
    """What is said of a reply that holds no answer."""
    graded = extract_answer(reply, style)
    assert isinstance(graded, Graded), graded
    return graded


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[ANSWER]\nYES\n[/ANSWER]", "YES"),
        ("[ANSWER]\nYES\n", "YES"),  # the closing tag is the stop sequence
        ("[ANSWER]YES[/ANSWER", "YES"),
        ("[ANSWER]\nYES\n[/ANS", "YES"),
        ("[ANSWER]\nYES\n[", "YES"),
        ("[answer] yes [/answer]", "yes"),
        ("YES", "YES"),
        ("YES\n[/ANSWER]\n[PYTHON]\ndef g(): pass", "YES"),
        ("Sure!\n[ANSWER]\n```python\nassert f(1) == 2\n```\n[/ANSWER]", "assert f(1) == 2"),
        ("[ANSWER]\n`x = 1`\n[/ANSWER]", "x = 1"),
        ("[ANSWER]\n[1, 2]; list\n[/ANSWER]", "[1, 2]; list"),
        ("[ANSWER]\n[]; list", "[]; list"),
        ("[THOUGHT]\nwell\n[/THOUGHT]\n[ANSWER]\n-1\n[/ANSWER]", "-1"),
        ("[ANSWER]\nNO\n[/ANSWER]\n\n[ANSWER]\nYES\n[/ANSWER]", "NO"),
        ("[ANSWER]\n```\nreturn x\n```\nfor x is 1\n[/ANSWER]", "return x"),
        ("[ANSWER]\nAnswer: 5; int\n[/ANSWER]", "5; int"),
        ("[ANSWER]\n**Answer:** -1\n[/ANSWER]", "-1"),
        ("The answer is: 5; int", "5; int"),
        ("**[ANSWER]**\nYES", "YES"),
        ("[ANSWER]: YES", "YES"),
        ("[ANSWER]**5; int**", "**5; int**"),
        ("[ANSWER]\n[ANSWER]\nYES\n[ANSWER]\nYES", "YES"),
        ("[ANSWER]\nanswer = 5\n[/ANSWER]", "answer = 5"),
        ("[ANSWER]\nanswer: int = 5\n[/ANSWER]", "answer: int = 5"),
    ],
)
def test_answers_to_direct_questions(text: str, answer: str) -> None:
    """Tags may be missing, cut or in small letters; fences, backticks and `Answer:` are no part of it."""
    assert extract_answer(Reply(text=text), "direct") == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("[THOUGHT]\nline 2 runs\n[/THOUGHT]\n[ANSWER]\nYES\n[/ANSWER]", "YES"),
        ("line 2 runs\n[/THOUGHT]\n[ANSWER]\nYES\n", "YES"),
        ("line 2 runs\n[/THOUGHT]\nYES", "YES"),
        ("[THOUGHT] is [ANSWER] a tag? [/THOUGHT] [ANSWER] NO [/ANSWER]", "NO"),
        ("no tags of thought [ANSWER]\nNO", "NO"),
    ],
)
def test_answers_behind_a_chain_of_thought(text: str, answer: str) -> None:
    """The answer stands behind the thought; what the thought says is never extracted for it."""
    assert extract_answer(Reply(text=text), "cot") == answer


@pytest.mark.parametrize(
    ("finish", "outcome"), [(Finish.STOP, Outcome.NO_ANSWER), (Finish.LENGTH, Outcome.TRUNCATED)]
)
def test_a_chain_of_thought_that_never_ends_is_wrong_and_named_so(finish: Finish, outcome: Outcome) -> None:
    """Neither the thought nor its last word is an answer."""
    graded = without_answer(Reply(text="[THOUGHT]\n1. x is 1, so YES", finish=finish), "cot")
    assert graded == Graded(outcome, "the chain of thought never came to an answer")


@pytest.mark.parametrize("style", ["direct", "cot"])
def test_a_reply_cut_at_the_token_limit_is_truncated(style: Style) -> None:
    """Even where what came so far looks like an answer; a closed answer was not cut."""
    cut = without_answer(Reply(text="[ANSWER]\nYES", finish=Finish.LENGTH), style)
    assert cut.outcome is Outcome.TRUNCATED
    whole = extract_answer(Reply(text="[ANSWER]\nYES\n[/ANSWER]\nand so on", finish=Finish.LENGTH), style)
    assert whole == "YES"


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [(Finish.REFUSED, Outcome.REFUSED), (Finish.CONTEXT_OVERFLOW, Outcome.CONTEXT_OVERFLOW)],
)
def test_refusals_and_overflows_keep_their_names(finish: Finish, outcome: Outcome) -> None:
    """They are outcomes of the model, whatever text came with them."""
    assert without_answer(Reply(text="[ANSWER]\nYES", finish=finish), "direct").outcome is outcome


@pytest.mark.parametrize("text", ["", "  \n", "[ANSWER]\n[/ANSWER]", "[ANSWER]\n```\n\n```"])
def test_an_empty_answer_is_none(text: str) -> None:
    """Nothing is no answer."""
    assert without_answer(Reply(text=text), "direct").outcome is Outcome.NO_ANSWER


def test_reasoning_is_never_looked_at() -> None:
    """A separate field of reasoning holds no answer."""
    reply = Reply(text="", reasoning="[ANSWER]\nYES\n[/ANSWER]")
    assert without_answer(reply, "direct").outcome is Outcome.NO_ANSWER
