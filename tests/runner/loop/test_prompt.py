"""Prompts: attacked (EVALOOOP, listing 3.1), carried on, and taken out of replies."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from support.case_files import listed
from support.loop_fakes import ADD
from triathlon_runner.loop._prompt import Attack, first_prompt, next_prompt, program_part, summary_in
from triathlon_runner.prompts import load_prompts

SIGNATURE = replace(
    ADD,
    prompt=(
        "from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n"
        '    """Add up the numbers.\n\n    Nothing gives 0.\n\n    >>> total([1, 2])\n    3\n    """\n'
    ),
)
PLAIN = replace(ADD, prompt="# Add two numbers.\ndef add(a, b):\n")
PROMPTS = load_prompts("loop")


@pytest.mark.parametrize(("kind", "summaries"), listed(Path(__file__).with_name("summaries.txt")).items())
@pytest.mark.parametrize("as_written", [False, True])
def test_a_summary_that_is_a_program(kind: str, summaries: list[str], as_written: bool) -> None:
    """A function or class with a body; words around it, or a signature alone, make it none."""
    for summary in summaries:
        is_program = summary_in(summary, completes=False, as_written=as_written)[1]
        assert is_program is (kind == "a program"), summary


@pytest.mark.parametrize("attack", get_args(Attack))
def test_attacks_spare_what_the_task_needs(attack: Attack) -> None:
    """Only the docstring's words change, if there is one; assertion and signature stay, and code valid."""
    assert first_prompt(ADD, None, PROMPTS) == ADD.prompt
    assert first_prompt(SIGNATURE, None, PROMPTS) == SIGNATURE.prompt
    assert first_prompt(PLAIN, attack, PROMPTS) == PLAIN.prompt
    attacked = first_prompt(ADD, attack, PROMPTS)
    if attack == "upper":
        assert attacked == '"""\nWRITE A FUNCTION TO ADD TWO NUMBERS.\nassert add(1, 2) == 3\n"""\n'
    else:
        assert "Write a function to add two numbers." in attacked and len(attacked) > len(ADD.prompt)
    assert "\nassert add(1, 2) == 3\n" in attacked
    assert attacked.startswith('"""\n') and attacked.endswith('\n"""\n')
    attacked = first_prompt(SIGNATURE, attack, PROMPTS)
    compile(attacked, "prompt", "exec")
    assert attacked.startswith(SIGNATURE.prompt.partition('"""')[0])
    assert "    >>> total([1, 2])\n    3\n" in attacked and attacked != SIGNATURE.prompt


def test_the_next_prompt_carries_the_assertion_once() -> None:
    """Though the summary repeats it; a prompt that is one docstring has no program to continue."""
    expected = '"""\nAdd.\nassert f(1)\n"""\n'
    assert next_prompt("Add.", "assert f(1)") == next_prompt("Add.\nassert f(1)", "assert f(1)") == expected
    assert next_prompt("Add.", "") == '"""\nAdd.\n"""\n'
    assert (program_part(ADD.prompt), program_part(SIGNATURE.prompt)) == ("", SIGNATURE.prompt)


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
    """Of a base model it is one line: what it writes below is another example."""
    assert summary_in(reply, completes=False, as_written=False)[0] == sentence
    assert summary_in(f" Add.\n\n{reply}", completes=True, as_written=False)[0] == "Add."
