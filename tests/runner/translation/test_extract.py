"""Taking programs of other languages out of replies."""

import pytest

from support.translations import TALLY
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.sandbox import Language
from triathlon_runner.translation._languages import continued, opening, translated

PHP = TALLY[Language.PHP]


def taken(
    text: str, language: Language = Language.PHP, finish: Finish = Finish.STOP
) -> tuple[str, Outcome | None]:
    return translated(Reply(text=text, finish=finish), language, "tally")


@pytest.mark.parametrize("language", Language)
def test_the_block_with_the_function_is_taken(language: Language) -> None:
    """Whatever the label, and whatever other blocks stand around it."""
    code = TALLY[language]
    for label in (language.value, "", "text"):
        program, outcome = taken(
            f"First:\n```bash\nrun it\n```\n```{label}\n{code}```\n```\nout\n```", language
        )
        assert (program.strip(), outcome) == (code.strip(), None)


@pytest.mark.parametrize("language", [Language.PHP, Language.RUBY, Language.JAVASCRIPT, Language.PERL])
def test_unfenced_code_is_found_between_prose(language: Language) -> None:
    """From the first definition to the last line that can end one."""
    code = TALLY[language].removeprefix("use strict;\n")
    program, outcome = taken(f"Here it is:\n\n{code}\nThat is all there is.", language)
    assert outcome is None
    assert program.strip() == code.strip()


@pytest.mark.parametrize("language", [Language.PHP, Language.RUBY, Language.JAVASCRIPT, Language.PERL])
@pytest.mark.parametrize("end", ["}" + " " * 50_000 + "x", "} " * 25_000 + "x", "}" + "\n" * 50_000 + "x"])
def test_an_end_is_looked_for_once(language: Language, end: str) -> None:
    """Blank space behind what may end a program, or begin one, is not read again from each of its places."""
    code = TALLY[language]
    assert taken(f"{code}\n{end}", language)[1] is None
    assert taken(f"```\nfunction{' ' * 50_000}y\n```\n```\nfunction y\n```", language)[1] is not None


def test_the_last_version_counts() -> None:
    """As in Python: a model corrects itself further down."""
    wrong = "```php\n<?php function tally() { return 0; }\n```"
    assert taken(f"{wrong}\nBetter:\n```php\n{PHP}```")[0].strip() == PHP.strip()


def test_a_block_of_the_language_is_taken_without_the_name() -> None:
    """A translation that renamed its function is executed, and crashes by its own fault."""
    program, outcome = taken("```php\n<?php function other() {}\n```\n```\nprints nothing\n```")
    assert (program, outcome) == ("<?php function other() {}", None)


@pytest.mark.parametrize(
    "text", ["", "I cannot translate this.", "<think>```php\nfunction tally() {}\n```</think>"]
)
def test_without_code_there_is_no_answer(text: str) -> None:
    """Prose and reasoning are no program."""
    assert taken(text) == ("", Outcome.NO_ANSWER)


def test_a_cut_or_refused_reply_has_its_own_outcome() -> None:
    """Even where code could be taken out of it."""
    assert taken(f"```php\n{PHP}```", finish=Finish.LENGTH) == ("", Outcome.TRUNCATED)
    assert taken("", finish=Finish.REFUSED) == ("", Outcome.REFUSED)


def test_a_base_model_goes_on_with_the_opening() -> None:
    """Its text belongs to the function until it invents another example."""
    opening = "sub tally {\n    my ($words) = @_;\n"
    body = "    return 1;\n}"
    expected = f"{opening}{body}\n"
    assert continued(Reply(text=f"{body}\n"), opening) == (expected, None)
    ran_on = Reply(text=f"{body}\n\n###\n\nPython:\ndef", finish=Finish.LENGTH)
    assert continued(ran_on, opening) == (expected, None)
    assert continued(Reply(text=body, finish=Finish.LENGTH), opening) == ("", Outcome.TRUNCATED)
    assert continued(Reply(text="\n\n###\n"), opening) == ("", Outcome.NO_ANSWER)


def test_no_parameter_is_called_like_a_word_of_the_language() -> None:
    """`new` cannot be a parameter in JavaScript, nor `end` in Ruby; in PHP a sign stands in front."""
    assert opening(Language.JAVASCRIPT, "changed", ["old", "new"]) == "function changed(old, new_) {\n"
    assert opening(Language.RUBY, "between", ["start", "end"]) == "def between(start, end_)\n"
    assert opening(Language.PHP, "changed", ["old", "new"]) == "function changed($old, $new) {\n"
