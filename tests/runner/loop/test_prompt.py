"""Prompts: attacked (EVALOOOP, listing 3.1), carried on, and taken out of replies."""

from dataclasses import replace

import pytest

from support.loop_fakes import ADD
from triathlon_runner.loop._prompt import first_prompt, is_program, next_prompt, program_part, sentence_of
from triathlon_runner.prompts import load_prompts

SIGNATURE = replace(
    ADD,
    prompt=(
        "from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n"
        '    """Add up the numbers.\n\n    Nothing gives 0.\n\n    >>> total([1, 2])\n    3\n    """\n'
    ),
)
PROMPTS = load_prompts("loop")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("def add(a, b):\n    return a + b", True),
        ("```python\ndef add(a, b):\n    return a + b\n```", True),
        ("import math\n\nclass Adder:\n    def add(self, a, b):\n        return a + b", True),
        ("def add(a, b): ...", False),
        ('def add(a, b):\n    """Add two numbers."""', False),
        ("Write a function add(a, b) that returns a + b.", False),
        ("Here is it:\n```python\ndef add(a, b):\n    return a + b\n```", False),
        ("add", False),
        ("", False),
    ],
)
def test_a_summary_is_a_program_where_it_parses_as_a_definition(sentence: str, expected: bool) -> None:
    """A function or class with a body; words around it, or a signature alone, make it none."""
    assert is_program(sentence) is expected


def test_without_an_attack_the_prompt_is_the_data_sets_own() -> None:
    """p^1 is not touched, to the last blank."""
    assert first_prompt(ADD, None, PROMPTS) == ADD.prompt
    assert first_prompt(SIGNATURE, None, PROMPTS) == SIGNATURE.prompt


def test_upper_case_spares_the_assertion() -> None:
    """Only the words are changed, or the task could not be solved."""
    assert first_prompt(ADD, "upper", PROMPTS) == (
        '"""\nWRITE A FUNCTION TO ADD TWO NUMBERS.\nassert add(1, 2) == 3\n"""\n'
    )


@pytest.mark.parametrize("attack", ["structured", "redundant"])
def test_the_other_attacks_keep_words_and_assertion(attack: str) -> None:
    """Structure and redundancy surround the task; its sentence and its assertion stay as they are."""
    attacked = first_prompt(ADD, attack, PROMPTS)  # type: ignore[arg-type]  # parametrized over the literal
    assert "Write a function to add two numbers." in attacked
    assert "\nassert add(1, 2) == 3\n" in attacked
    assert attacked.startswith('"""\n')
    assert attacked.endswith('\n"""\n')
    assert len(attacked) > len(ADD.prompt)


@pytest.mark.parametrize("attack", ["upper", "structured", "redundant"])
def test_a_signature_is_spared(attack: str) -> None:
    """Of a prompt that is code only the docstring's words are attacked, and it stays valid Python."""
    attacked = first_prompt(SIGNATURE, attack, PROMPTS)  # type: ignore[arg-type]  # as above
    compile(attacked, "prompt", "exec")
    head = SIGNATURE.prompt.partition('"""')[0]
    assert attacked.startswith(head)
    assert "    >>> total([1, 2])\n    3\n" in attacked
    assert attacked != SIGNATURE.prompt


def test_a_prompt_without_a_docstring_cannot_be_attacked() -> None:
    """There are no words to change: it stays."""
    plain = replace(ADD, prompt="# Add two numbers.\ndef add(a, b):\n")
    assert first_prompt(plain, "upper", PROMPTS) == plain.prompt


def test_the_next_prompt_carries_the_assertion_once() -> None:
    """A model that repeats the assertion in its summary does not double it."""
    expected = '"""\nAdd.\nassert f(1)\n"""\n'
    assert next_prompt("Add.", "assert f(1)") == expected
    assert next_prompt("Add.\nassert f(1)", "assert f(1)") == expected
    assert next_prompt("Add.", "") == '"""\nAdd.\n"""\n'


def test_a_docstring_offers_a_program_nothing() -> None:
    """A prompt that is one docstring has nothing to continue or to borrow."""
    assert program_part(ADD.prompt) == ""
    assert program_part(SIGNATURE.prompt) == SIGNATURE.prompt


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ("Write it.", "Write it."),
        ("\n  Write it.  \n", "Write it."),
        ('"Write it."', "Write it."),
        ("“Write it.”", "Write it."),
        ("```\nWrite it.\n```", "Write it."),
        ('"""\nWrite it.\n"""', "Write it."),
        ("<think>hm</think>Write it.", "Write it."),
        ("`f` calls `g`", "`f` calls `g`"),
        ("Write it.\n\nIt adds.", "Write it.\n\nIt adds."),
        ("", ""),
    ],
)
def test_the_sentence_is_the_reply_without_its_wrapping(reply: str, sentence: str) -> None:
    """Fences, quotes and reasoning around all of it go; whatever else the model wrote stays its summary."""
    assert sentence_of(reply, completes=False) == sentence


def test_a_completions_sentence_is_one_line() -> None:
    """What a base model writes below its sentence is another example."""
    assert sentence_of(" Add.\n\ndef other():", completes=True) == "Add."
