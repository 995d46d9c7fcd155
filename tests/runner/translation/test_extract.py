"""Taking programs of other languages out of replies."""

import pytest

from support.translations import TALLY
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.sandbox import Language
from triathlon_runner.translation._languages import continued, opening, translated

PHP = TALLY[Language.PHP]
OTHERS = [language for language in Language if language is not Language.PYTHON]


def taken(
    text: str, language: Language = Language.PHP, finish: Finish = Finish.STOP
) -> tuple[str, Outcome | None]:
    program, outcome = translated(Reply(text=text, finish=finish), language, "tally")
    return program.strip(), outcome


@pytest.mark.parametrize("language", Language)
def test_the_block_with_the_function_is_taken(language: Language) -> None:
    """Whatever the label, and whatever other blocks stand around it; the last version counts."""
    code = TALLY[language]
    for label in (language.value, "", "text"):
        text = f"First:\n```bash\nrun it\n```\n```{label}\n{code}```\n```\nout\n```"
        assert taken(text, language) == (code.strip(), None)
    wrong = "```php\n<?php function tally() { return 0; }\n```"
    assert taken(f"{wrong}\nBetter:\n```php\n{PHP}```") == (PHP.strip(), None)


@pytest.mark.parametrize("language", OTHERS)
def test_unfenced_code_is_found_between_prose(language: Language) -> None:
    """From the first definition to the last line that can end one."""
    code = TALLY[language].removeprefix("use strict;\n")
    assert taken(f"Here it is:\n\n{code}\nThat is all there is.", language) == (code.strip(), None)


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("end", ["}" + " " * 50_000 + "x", "} " * 25_000 + "x", "}" + "\n" * 50_000 + "x"])
def test_an_end_is_looked_for_once(language: Language, end: str) -> None:
    """Blank space behind what may end a program, or begin one, is not read again from each of its places."""
    assert taken(f"{TALLY[language]}\n{end}", language)[1] is None
    assert taken(f"```\nfunction{' ' * 50_000}y\n```\n```\nfunction y\n```", language)[1] is not None


@pytest.mark.parametrize(
    ("text", "finish", "expected"),
    [
        # A translation that renamed its function is executed, and crashes by its own fault.
        (
            "```php\n<?php function other() {}\n```\n```\nprints nothing\n```",
            Finish.STOP,
            ("<?php function other() {}", None),
        ),
        ("", Finish.STOP, ("", Outcome.NO_ANSWER)),
        ("I cannot translate this.", Finish.STOP, ("", Outcome.NO_ANSWER)),
        ("<think>```php\nfunction tally() {}\n```</think>", Finish.STOP, ("", Outcome.NO_ANSWER)),
        (f"```php\n{PHP}```", Finish.LENGTH, ("", Outcome.TRUNCATED)),
        ("", Finish.REFUSED, ("", Outcome.REFUSED)),
    ],
)
def test_replies_without_the_function(
    text: str, finish: Finish, expected: tuple[str, Outcome | None]
) -> None:
    """Prose and reasoning are no program; a cut or refused reply has its own outcome, whatever is in it."""
    assert taken(text, finish=finish) == expected


def test_a_base_model_goes_on_with_the_opening() -> None:
    """Its text belongs to the function until it invents another example."""
    opening = "sub tally {\n    my ($words) = @_;\n"
    body = "    return 1;\n}"
    expected = f"{opening}{body}\n"
    ran_on = Reply(text=f"{body}\n\n###\n\nPython:\ndef", finish=Finish.LENGTH)
    assert continued(Reply(text=f"{body}\n"), opening) == continued(ran_on, opening) == (expected, None)
    assert continued(Reply(text=body, finish=Finish.LENGTH), opening) == ("", Outcome.TRUNCATED)
    assert continued(Reply(text="\n\n###\n"), opening) == ("", Outcome.NO_ANSWER)


def test_no_parameter_is_called_like_a_word_of_the_language() -> None:
    """`new` cannot be a parameter in JavaScript, nor `end` in Ruby; in PHP a sign stands in front."""
    assert opening(Language.JAVASCRIPT, "changed", ["old", "new"]) == "function changed(old, new_) {\n"
    assert opening(Language.RUBY, "between", ["start", "end"]) == "def between(start, end_)\n"
    assert opening(Language.PHP, "changed", ["old", "new"]) == "function changed($old, $new) {\n"
