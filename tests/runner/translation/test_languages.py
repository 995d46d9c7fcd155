"""Programs of other languages in replies; values that cross between languages, and which are the same."""

from pathlib import Path

import pytest

from support.case_files import rows
from support.translations import TALLY
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.sandbox import Language, Opaque
from triathlon_runner.translation._languages import continued, opening, translated
from triathlon_runner.translation._task import plain, same

PYTHON, PHP, RUBY, JAVASCRIPT, PERL = Language
TALLY_IN_PHP = TALLY[PHP]
OTHERS = (PHP, RUBY, JAVASCRIPT, PERL)
OTHER = "<?php function other() {}"


def taken(text: str, language: Language = PHP, finish: Finish = Finish.STOP) -> tuple[str, Outcome | None]:
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
    assert taken(f"{wrong}\nBetter:\n```php\n{TALLY_IN_PHP}```") == (TALLY_IN_PHP.strip(), None)
    beside_the_original = f"```ruby\n{TALLY[RUBY]}```\n```python\n{TALLY[PYTHON]}```"
    assert taken(beside_the_original, RUBY) == (TALLY[RUBY].strip(), None)
    unfenced = f"{TALLY[JAVASCRIPT]}\nconst one = (x) => x;"
    assert taken(f"{unfenced}\nDone.", JAVASCRIPT) == (unfenced.strip(), None)


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
        (f"```PHP\n{OTHER}\n```\n```\nprints nothing\n```", Finish.STOP, (OTHER, None)),
        ("", Finish.STOP, ("", Outcome.NO_ANSWER)),
        ("I cannot translate this.", Finish.STOP, ("", Outcome.NO_ANSWER)),
        ("<think>```php\nfunction tally() {}\n```</think>", Finish.STOP, ("", Outcome.NO_ANSWER)),
        (f"```php\n{TALLY_IN_PHP}", Finish.LENGTH, ("", Outcome.TRUNCATED)),
        (TALLY_IN_PHP, Finish.LENGTH, ("", Outcome.TRUNCATED)),
        (f"```php\n{TALLY_IN_PHP}```\nNo:\n```php\n{TALLY_IN_PHP}", Finish.LENGTH, ("", Outcome.TRUNCATED)),
        (f"```php\n{TALLY_IN_PHP}```", Finish.REFUSED, ("", Outcome.REFUSED)),
        ("", Finish.REFUSED, ("", Outcome.REFUSED)),
    ],
)
def test_where_there_is_no_function(text: str, finish: Finish, expected: tuple[str, Outcome | None]) -> None:
    """Prose and reasoning are no program; nor is what the limit cut, or what stands in a refusal."""
    assert taken(text, finish=finish) == expected


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(
    ("form", "finish"),
    [
        ("Here it is:\n\n{code}\nThat is all there is.", Finish.STOP),
        ("<answer>{code}</answer>", Finish.STOP),
        ("<answer>\n```\n{code}```\n</answer>", Finish.STOP),
        ("[BEGIN]\n{code}[DONE]", Finish.STOP),
        ("{code}```\nDone", Finish.STOP),
        ("{code}\nFor example:\n```php\n<?php tally([]);\n```", Finish.STOP),
        ("```\n{code}```\nThis function adds", Finish.LENGTH),
        ("```\n{code}```\n" * 2 + "```\n{code}", Finish.LENGTH),
        ("```\n{code}```\nFor example:\n```\n[1, ", Finish.LENGTH),
        ("```\n{code}```<|im_end|>\n<|im_start|>user", Finish.LENGTH),
        ("{code}<|im_end|>\n<|im_start|>user", Finish.LENGTH),
    ],
)
def test_markup_and_a_late_cut_cost_no_program(language: Language, form: str, finish: Finish) -> None:
    """Prose, wrappers, a fence that opens nothing, what the limit cut behind the program: as in Python."""
    code = TALLY[language].removeprefix("use strict;\n")
    assert taken(form.format(code=code), language, finish) == (code.strip(), None)


def test_a_base_model_goes_on_with_the_opening() -> None:
    """Its text belongs to the function until it invents another example."""
    opening = "sub tally {\n    my ($words) = @_;\n"
    body = "    return 1;\n}"
    expected = f"{opening}{body}\n"
    ran_on = Reply(text=f"{body}\n\n###\n\nPython:\ndef", finish=Finish.LENGTH)
    assert continued(Reply(text=f"{body}\n"), opening) == continued(ran_on, opening) == (expected, None)
    ended = Reply(text=f"{body}<|im_end|>\nuser", finish=Finish.LENGTH)
    assert continued(ended, opening) == (expected, None)
    assert continued(Reply(text=body, finish=Finish.LENGTH), opening) == ("", Outcome.TRUNCATED)
    assert continued(Reply(text="\n\n###\n"), opening) == ("", Outcome.NO_ANSWER)


def test_no_parameter_is_called_like_a_word_of_the_language() -> None:
    assert opening(JAVASCRIPT, "changed", ["old", "new"]) == "function changed(old, new_) {\n"
    assert opening(RUBY, "between", ["start", "end"]) == "def between(start, end_)\n"
    assert opening(PHP, "changed", ["old", "new"]) == "function changed($old, $new) {\n"


UNDEFINED, FUNCTION = Opaque("undefined"), Opaque("function")
CROSS = (None, True, 2**53, 1.5, "é", [1, ["a", (2, None)]], {"a": [1]})
DO_NOT_CROSS = (2**53 + 1, float("nan"), float("inf"), {1: "a"}, {1, 2}, b"a", 1j, FUNCTION)


def test_what_every_language_has() -> None:
    """JSON has one kind of sequence."""
    assert plain(CROSS) == [None, True, 2**53, 1.5, "é", [1, ["a", [2, None]]], {"a": [1]}]
    for value in DO_NOT_CROSS:
        with pytest.raises(ValueError, match="not every language"):
            plain([value])


@pytest.mark.parametrize("row", rows(Path(__file__).with_name("same_values.csv")), ids=str)
def test_sameness(row: dict[str, str]) -> None:
    """Values count as the same where the language has no nearer one, and nowhere else."""
    names = {"UNDEFINED": UNDEFINED, "FUNCTION": FUNCTION}
    expected, got, is_same = (eval(row[column], names) for column in ("expected", "got", "same"))
    assert same(expected, got, Language(row["language"])) is is_same


@pytest.mark.parametrize("language", Language)
def test_numbers_beyond_every_float_are_other_values(language: Language) -> None:
    """Too large for a float, or too long to be written; what a problem lets differ, though, may differ."""
    for huge in (10**400, -(10**400), 10**5000):
        for expected in (None, True, 1, 1.5, "1", [1], {"1": 1}):
            assert not same(expected, huge, language)
            assert not same([expected], [huge], language)
        assert not same({"1": "a"}, {huge: "a"}, language)
    assert not same(1.5, "9" * 5000, language)
    assert same(1.0, 1.05, language, tolerance=0.1) and not same(1.0, 1.05, language)
