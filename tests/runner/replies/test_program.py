"""Taking programs out of replies (rule 3 of the specification, and what models really write)."""

import ast
import warnings
from typing import Any

import pytest

from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies import Extraction, code_blocks, extract_program

ADD = "def add(a, b):\n    return a + b\n"
MBPP_PROMPT = '"""\nWrite a function to add two numbers.\nassert add(1, 2) == 3\n"""\n'
OPEN_PROMPT = 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Adds."""\n'


def extract(text: str, **options: Any) -> Extraction:
    defaults: dict[str, Any] = {"entry_point": "add", "prompt": MBPP_PROMPT, "completes": False}
    finish = options.pop("finish", Finish.STOP)
    return extract_program(Reply(text=text, finish=finish), **(defaults | options))


def call(extraction: Extraction, name: str = "add", *arguments: Any) -> Any:
    """Runs a program of this file's own making (never of a model's)."""
    scope: dict[str, Any] = {"__name__": "program"}
    exec(extraction.program, scope)
    return scope[name](*(arguments or (1, 2)))


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{ADD}```",
        f"```\n{ADD}```",
        f"```Python3\n{ADD}```",
        f"``` py\n{ADD}```",
        f'```python title="add.py"\n{ADD}```',
        f"````python\n{ADD}````",
        f"~~~python\n{ADD}~~~",
        f"```java\n{ADD}```",
        f"Sure! Here it is:\n\n```python\n{ADD}```\n\nIt adds both numbers.",
        f"1. First:\n\n   ```python\n   {ADD.strip().replace(chr(10), chr(10) + '   ')}\n   ```\n",
        f"Here is the code: ```python\n{ADD}```",
        "```python\ndef add(a, b):\n    return a + b```",
        "```python def add(a, b): return a + b```",
        "```def add(a, b): return a + b```",
        "```python def add(a, b):\n    return a + b\n```",
        f"```python\n{ADD}",
        f"```python\n{ADD}```python\n",
        f"```python\r\n{ADD.replace(chr(10), chr(13) + chr(10))}```\r\n",
        f"\ufeff```python\n{ADD}```",
        "```python\ndef add(a, b):\n\u00a0\u00a0\u00a0\u00a0return a + b\n```",
        "```python\n>>> def add(a, b):\n...     return a + b\n...\n>>> add(1, 2)\n3\n```",
    ],
)
def test_fences_of_any_kind_are_opened(reply: str) -> None:
    """A program in a fence is found whatever the fence, its label, its indentation or its missing end."""
    assert call(extract(reply)) == 3


@pytest.mark.parametrize(
    "reply",
    [
        ADD,
        f"Here is the function:\n{ADD}\nIt adds two numbers.",
        f"Note: this is simple.\nimport math\n{ADD}\nExample:\nadd(1, 2) gives 3.",
        "    def add(a, b):\n        return a + b\n",
        f"Solution\n\n@staticmethod_like\n{ADD}".replace("@staticmethod_like\n", ""),
    ],
)
def test_without_a_fence_the_statements_are_found(reply: str) -> None:
    """Prose around unfenced code is left out."""
    result = extract(reply)
    assert call(result) == 3
    assert "It adds" not in result.program


def test_decorated_functions_and_flush_strings_survive_prose() -> None:
    """A decorator and a string whose lines are flush belong to the statement around them."""
    reply = (
        "I use a cache.\nfrom functools import cache\n\n@cache\ndef add(a, b):\n    '''Sum\nof both\n'''\n"
        "    return a + b\n\nDone."
    )
    assert call(extract(reply)) == 3


def test_the_last_of_several_versions_counts() -> None:
    """A model that corrects itself means its last version."""
    first = "```python\ndef add(a, b):\n    return a - b\n```\n"
    reply = f"{first}Wait, that subtracts. Corrected:\n```python\n{ADD}```"
    assert call(extract(reply)) == 3


def test_usage_blocks_are_not_the_program() -> None:
    """A block that only calls the function is not chosen, wherever it stands."""
    reply = f"```bash\npip install add\n```\n```python\n{ADD}```\nUsage:\n```python\nprint(add(1, 2))\n```"
    result = extract(reply)
    assert call(result) == 3
    assert "print" not in result.program


def test_a_block_that_imports_the_function_is_not_the_program() -> None:
    """A test file that imports the solution defines nothing."""
    tests = "from solution import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    result = extract(f"solution.py:\n```python\n{ADD}```\ntest_solution.py:\n```python\n{tests}```")
    assert call(result) == 3
    assert "solution" not in result.program


def test_helpers_in_another_block_come_along() -> None:
    """What the program lacks and another block defines is put in front of it, and said."""
    reply = (
        "First the import and a helper:\n```python\nimport operator\ndef plus(a, b):\n"
        "    return operator.add(a, b)\n```\nThen:\n```python\ndef add(a, b):\n    return plus(a, b)\n```"
    )
    result = extract(reply)
    assert call(result) == 3
    assert result.changes == ("took operator, plus from another block",)


def test_the_prompts_imports_and_helpers_come_along() -> None:
    """Names that the prompt gives are there for the program, but never the function asked for."""
    helper = "import math\n\n\ndef half(x):\n    return math.floor(x / 2)\n\n\n"
    prompt = helper + "def add(a: float) -> float:\n    '''d'''\n"
    result = extract("```python\ndef add(a):\n    return half(a)\n```", prompt=prompt)
    assert call(result, "add", 5) == 2
    assert result.changes == ("took half, math from the prompt",)
    lazy = extract(
        "```python\ndef other(a):\n    return 1\ndef another(a):\n    return 2\n```", prompt=prompt
    )
    assert "def add" not in lazy.program


def test_imports_go_behind_a_future_import() -> None:
    """`from __future__` stays the first statement."""
    result = extract(
        "```python\nfrom __future__ import annotations\n"
        "def add(a: List[int], b) -> int:\n    return math.floor(a + b)\n```",
        prompt="import math\n" + OPEN_PROMPT,
    )
    assert call(result) == 3


def test_a_missing_import_that_nobody_offers_stays_missing() -> None:
    """We add nothing of our own: a forgotten import is the model's mistake."""
    result = extract("```python\ndef add(a, b):\n    return itertools.accumulate([a, b])\n```")
    assert "import" not in result.program


def test_one_function_under_another_name_stands_for_the_tests() -> None:
    """The tests' name is bound where it is missing and exactly one function can be meant."""
    result = extract("```python\ndef add_numbers(a, b):\n    return a + b\n```")
    assert call(result) == 3
    assert result.changes == ("add_numbers stands for add",)


def test_of_two_functions_under_other_names_none_is_chosen() -> None:
    """Two candidates are one too many: the program is executed as it is, and fails."""
    plus, minus = "def plus(a, b):\n    return a + b\n", "def minus(a, b):\n    return a - b\n"
    result = extract(f"```python\n{plus}{minus}```")
    assert "add" not in result.program
    assert result.outcome is None
    split = extract(f"```python\n{plus}```\n```python\n{minus}```")
    assert "add" not in split.program


def test_another_name_can_be_refused() -> None:
    """A protocol whose prompts fix the name takes no other."""
    result = extract("```python\ndef add_numbers(a, b):\n    return a + b\n```", other_names=False)
    assert (result.program, result.changes) == ("def add_numbers(a, b):\n    return a + b\n", ())


def test_the_right_name_is_not_replaced() -> None:
    """A program that has the tests' name keeps it, whatever else it defines."""
    result = extract("```python\ndef helper(a):\n    return a\n\nadd = lambda a, b: helper(a) + b\n```")
    assert call(result) == 3
    assert result.changes == ()


def test_examples_that_run_are_left_out() -> None:
    """Prints, asserts, input and a main part behind the function do not run with it."""
    tail = (
        "assert add(1, 2) == 4\nn = int(input())\nprint(add(n, 1))\nfor x in [1]:\n    print(add(x, x))\n"
        "result = add(5, 5)\nif __name__ == '__main__':\n    unittest.main()\n"
        "import unittest\nunittest.main()\n"
    )
    result = extract(f"```python\nb = int(input())\n{ADD}{tail}```")
    assert call(result) == 3
    assert "input" not in result.program
    assert result.changes == ("left out 8 statement(s) that only run examples",)


def test_the_models_own_code_is_kept_beside_the_program() -> None:
    """What is shown to the model again is what it wrote, line for line, not what was made of it."""
    code = "import math\n\ndef add(a, b):\n    \n    return a + b\n\nassert add(1, 2) == 3"
    for reply in (f"```python\n{code}\n```", f"Here:\n```\n{code}\n```\nDone.", code):
        result = extract(reply)
        assert result.written == code
        assert "assert" not in result.program


def test_a_completions_own_code_lacks_the_prompts_docstring() -> None:
    """The prompt's words are not the model's."""
    result = extract("    return a + b\n\nprint(1)", prompt=OPEN_PROMPT, completes=True)
    assert result.written == "from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    return a + b"


def test_set_up_is_kept() -> None:
    """Statements that the function needs stay: recursion limits, tables, caches, wrappers."""
    reply = (
        "```python\nimport sys\nsys.setrecursionlimit(5000)\nTABLE = {}\ndef fill():\n    TABLE['one'] = 1\n"
        "fill()\ndef add(a, b):\n    return a * TABLE['one'] + b + EXTRA + add.bonus\n"
        "EXTRA = len(TABLE) - 1\nadd.bonus = 0\n```"
    )
    result = extract(reply)
    assert call(result) == 3
    assert result.changes == ()


def test_code_in_reasoning_is_not_taken() -> None:
    """A program that stands only in the reasoning is no answer, and the final one wins over it."""
    draft = "<think>\n```python\ndef add(a, b):\n    return a - b\n```\n</think>\n"
    assert extract(draft).outcome is Outcome.NO_ANSWER
    assert call(extract(f"{draft}```python\n{ADD}```")) == 3
    assert (
        extract("<think>\nI begin with\n```python\ndef add(a, b):\n    return 1").outcome is Outcome.NO_ANSWER
    )


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "  \n\n",
        "I cannot write that function.",
        "The function adds two numbers and returns their sum.",
        "```\n```",
        "```bash\npip install numpy\n```",
        "Note: importing math would help. For example: 3.",
        "import antigravity",
    ],
)
def test_prose_is_no_answer(reply: str) -> None:
    """What holds no function is `no_answer`, not an empty program that crashes."""
    result = extract(reply)
    assert result == Extraction("", (), Outcome.NO_ANSWER)


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        (Finish.LENGTH, Outcome.TRUNCATED),
        (Finish.REFUSED, Outcome.REFUSED),
        (Finish.CONTEXT_OVERFLOW, Outcome.CONTEXT_OVERFLOW),
    ],
)
def test_a_reply_that_was_stopped_has_its_own_outcome(finish: Finish, outcome: Outcome) -> None:
    """What could be taken out of such a reply is no answer, unless a program was whole before the cut."""
    assert extract("```python\ndef add(a, b):\n    ret", finish=finish) == Extraction("", (), outcome)


CUT = {
    "prose behind a block": f"```python\n{ADD}```\nNow I expl",
    "a call": f"```python\n{ADD}\nprint(add(1,",
    "a list of strings": f"```python\n{ADD}\nwords = [\n    'a',\n    'b",
    "a text with flush lines": f'```python\n{ADD}\ntext = """\none\ntwo',
    "a loop": f"```python\n{ADD}\nfor x in [1, 2]:\n    print(add(x,",
    "a comment": f"```python\n{ADD}\n# Example:\n# add(1, 2",
    "no fence": f"{ADD}\nprint(add(1,",
    "a second block": f"```python\n{ADD}```\nUsage:\n```python\nfor x in [1, 2]:\n    print(add(x, x",
}
CUT_DEFINITIONS = {
    "in the function": "```python\ndef add(a, b):\n    if a == 1:\n        return 1 + b\n    ret",
    "the function may go on": f"```python\n{ADD}",
    "in a helper": f"```python\n{ADD}\ndef helper(x):\n    ret",
    "in a decorator": f"```python\n{ADD}\n@cache",
    "in the corrected version": f"```python\n{ADD}```\nBetter:\n```python\ndef add(a, b):\n    ret",
    "in a class": "```python\nclass Solution:\n    def add(self, a, b):\n        return a",
    "in prose": "The function adds",
    "in a body": "```python\n    return a",
}


@pytest.mark.parametrize("name", CUT)
def test_a_program_that_was_whole_before_the_cut_counts(name: str) -> None:
    """What was cut only shows how it is used, and is left out."""
    result = extract(CUT[name], finish=Finish.LENGTH)
    assert call(result) == 3
    assert result.program.startswith(ADD.strip())
    is_noted = "cut off an unfinished example" in result.changes
    assert is_noted == (name not in ("prose behind a block", "a second block"))


@pytest.mark.parametrize("name", CUT_DEFINITIONS)
def test_a_definition_that_was_cut_is_truncated(name: str) -> None:
    """Nobody knows how it would have gone on."""
    assert extract(CUT_DEFINITIONS[name], finish=Finish.LENGTH).outcome is Outcome.TRUNCATED


def test_an_answer_that_ended_before_the_limit_is_whole() -> None:
    """The model ended its turn and went on with an invented one until the limit came."""
    for text in (f"```python\n{ADD}```<|im_end|>\n<|im_start|>user\nNow", f"{ADD}<|endoftext|>def sub(a"):
        assert call(extract(text, finish=Finish.LENGTH)) == 3


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (f"```python\n{ADD}```\nNow I expl", None),
        (f"```python\n{ADD}\nprint(add(1,", Outcome.TRUNCATED),
        (ADD, Outcome.TRUNCATED),
    ],
)
def test_by_the_papers_rule_only_a_closed_block_was_whole(reply: str, outcome: Outcome | None) -> None:
    """Its harness runs all that was written."""
    assert extract(reply, finish=Finish.LENGTH, as_written=True).outcome is outcome


@pytest.mark.parametrize(
    "example",
    [
        "print(add(1, 2))  # [3,\n    4]\n",
        "add(1, 2) gives 3\n",
        "assert add(1, 2) == 3:\n    print('right')\n",
        "words = ['a', 'b'\n",
    ],
)
def test_an_example_that_does_not_parse_is_left_out(example: str) -> None:
    """The function in front of it is whole; a definition that does not parse is the model's program."""
    result = extract(f"```python\n{ADD}\n{example}```")
    assert call(result) == 3
    assert result.changes == ("left out an example that does not parse",)
    broken = extract(f"```python\n{ADD}\n{example}\ndef helper(x):\n    return x\n```")
    with pytest.raises(SyntaxError):
        compile(broken.program, "p", "exec")


@pytest.mark.parametrize(
    "remark",
    [
        "Wait, the code above is wrong: it subtracts.",
        "That would fail for 2. Avoid it!",
        "A common mistake, don't do this. Another way:",
        "Oops.",
        "For example, you could also write",
    ],
)
def test_no_prose_decides_which_version_counts(remark: str) -> None:
    """The last complete one is the answer, whatever is said of either."""
    minus = ADD.replace("+", "-")
    assert call(extract(f"```python\n{minus}```\n{remark}\n```python\n{ADD}```")) == 3
    assert call(extract(f"```python\n{ADD}```\n{remark}\n```python\n{minus}```")) == -1


@pytest.mark.parametrize("name", ["python", "Python", "py", "python3", "py3"])
@pytest.mark.parametrize("label", ["", "python"])
def test_the_languages_name_in_a_block_is_no_code(name: str, label: str) -> None:
    """Some models write it below the fence; by the paper's rule, too, it is none."""
    for as_written in (False, True):
        result = extract(f"```{label}\n{name}\n\n{ADD}```", as_written=as_written)
        assert result.program == ADD


@pytest.mark.parametrize(
    "end", ["exit()", "quit()", "sys.exit(0)", "raise SystemExit", "n = int(sys.argv[1])\nprint(add(n, n))",
            "result = add(1, 2)\ntotal = result + nothing"],
)  # fmt: skip
def test_nothing_behind_the_function_ends_the_program(end: str) -> None:
    """Exits are left out as prints are, and what follows from an example with it."""
    result = extract(f"```python\nimport sys\n{ADD}\n{end}\n```")
    assert result.program == f"import sys\n{ADD}"


@pytest.mark.parametrize(
    "body",
    [
        "```python\n    total = a + b\n    return total\n```",
        "```python\ntotal = a + b\nreturn total\n```",
        "```\ntotal = a + b\n    return total\n```",
        '"""Sum."""\nreturn a + b\n',
        "```python\nimport operator\nreturn operator.add(a, b)\n```",
        "```python\n    if a:\n        return a + b\n    return b\n```",
        "<answer>return a + b</answer>",
    ],
)
def test_a_body_stands_at_one_depth(body: str) -> None:
    """All its lines come under the prompt's signature, and the join compiles."""
    result = extract(body, prompt=OPEN_PROMPT)
    assert call(result) == 3
    compile(result.program, "p", "exec")


def test_a_body_that_cannot_be_joined_is_code() -> None:
    """There is no signature to put it under: it is executed, and crashes."""
    result = extract("```python\nreturn a + b\n```")
    assert (result.outcome, result.program) == (None, "return a + b")


@pytest.mark.parametrize(
    "broken",
    [
        "```python\ndef add(a, b)\n    return a + b\n```",
        "def add(a, b)\n    return a + b",
        "def add(a, b):\nreturn a + b",
        "```python\ndef add(a, b):\n    return (a + b\n```",
    ],
)
def test_a_program_that_does_not_parse_is_still_the_answer(broken: str) -> None:
    """Broken code is handed on, so that its verdict says how it crashed."""
    result = extract(broken)
    assert result.outcome is None
    assert "def add(a, b)" in result.program
    with pytest.raises(SyntaxError):
        compile(result.program, "p", "exec")


def test_prose_behind_an_unclosed_fence_is_left_out() -> None:
    """Where the closing fence was forgotten, the sentences that follow are no part of the program."""
    assert call(extract(f"```python\n{ADD}\nI hope it helps!")) == 3


def test_a_closed_block_counts_as_it_is() -> None:
    """What a model fences is its program: prose between the fences breaks it, and its verdict says so."""
    result = extract(f"```python\nHere is the program:\n{ADD}```")
    assert result.program == f"Here is the program:\n{ADD}"
    assert result.written == result.program.strip()


def test_a_fence_inside_a_docstring_belongs_to_the_program() -> None:
    """Markdown in a docstring does not end the block."""
    docstring = '    """Adds.\n\n    ```python\n    add(1, 2)\n    ```\n    """\n'
    reply = f"```python\ndef add(a, b):\n{docstring}    return a + b\n```"
    assert call(extract(reply)) == 3


def test_quotes_of_the_other_kind_inside_a_docstring_open_nothing() -> None:
    """Where one is mentioned the fence behind the program still ends it."""
    program = 'def add(a, b):\n    """Not \'\'\' but this."""\n    return a + b\n'
    found = extract(f"```python\n{program}```\nIt *adds* the two.\n")
    assert found.program.strip() == program.strip()


def test_a_body_alone_is_put_under_the_prompts_signature() -> None:
    """A chat model that completes instead of answering is understood."""
    for reply in ("    return a + b", "```python\nreturn a + b\n```", "return a + b"):
        result = extract(reply, prompt=OPEN_PROMPT)
        assert call(result) == 3
        assert result.changes == ("put the body under the prompt's signature",)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (OPEN_PROMPT, "    return a + b\n"),
        (OPEN_PROMPT, "    return a + b"),
        (
            OPEN_PROMPT,
            "    total = a\n\n    # both\n    return total + b\n\n\ndef sub(a, b):\n    return a -",
        ),
        (OPEN_PROMPT, "    return a + b\n\nprint(add(1, 2))\nassert add(1, 1) == 3\n"),
        (OPEN_PROMPT, "    return a + b\n```\n\nExplanation follows"),
        (OPEN_PROMPT, "    text = '''\nflush\n'''\n    return a + b\n# next"),
        (OPEN_PROMPT, "return a + b\n\nprint(1)"),
        (OPEN_PROMPT, "total = a + b\n    return total\nprint(1)"),
        (OPEN_PROMPT, "if a:\n    return a + b\nreturn b\n"),
        (OPEN_PROMPT, "   total = a + b\n    return total\n"),
        (OPEN_PROMPT, "     total = a + b\n    return total\n"),
        (OPEN_PROMPT, "    return a + b<|endoftext|>"),
        (OPEN_PROMPT, "    return a + b\n[DONE]\n\nYou are"),
        (OPEN_PROMPT, f"\n{ADD}\nprint(2)"),
        (OPEN_PROMPT, f"```python\n{ADD}```\nDone."),
        (MBPP_PROMPT, f'{ADD}\n"""\nWrite a function to subtract.\n"""\ndef sub(a'),
        (MBPP_PROMPT, f"import math\n\ndef helper(x):\n    return x\n\n{ADD}\ndef more("),
    ],
)
def test_completions_end_where_they_leave_the_function(prompt: str, text: str) -> None:
    """A base model's text continues the prompt, and what it invents behind the function does not count."""
    result = extract(text, prompt=prompt, completes=True)
    assert call(result) == 3
    assert ast.parse(result.program)
    assert "print" not in result.program


def test_a_completion_that_ran_on_is_whole_when_the_limit_comes() -> None:
    """The limit cuts a base model always; only one that was still in the function is truncated."""
    done = extract(
        "    return a + b\n\ndef sub(a, b):\n    ret",
        prompt=OPEN_PROMPT,
        completes=True,
        finish=Finish.LENGTH,
    )
    assert call(done) == 3
    assert done.changes == ("cut off what follows the function",)
    cut = extract("    total = a\n    total +=", prompt=OPEN_PROMPT, completes=True, finish=Finish.LENGTH)
    assert cut.outcome is Outcome.TRUNCATED
    no_end = extract("    return a + b", prompt=OPEN_PROMPT, completes=True, finish=Finish.LENGTH)
    assert no_end.outcome is Outcome.TRUNCATED


def test_a_completion_that_does_not_parse_is_code() -> None:
    """It is executed, and crashes; it is not called no answer."""
    result = extract("    return a +\n", prompt=OPEN_PROMPT, completes=True)
    assert result.outcome is None
    with pytest.raises(SyntaxError):
        compile(result.program, "p", "exec")


@pytest.mark.parametrize("text", ["", "\n\n", "    # think about it\n", "\n\nprint(1)\n"])
def test_a_completion_without_a_body_is_no_answer(text: str) -> None:
    """A docstring alone would make a function that returns None: that is not what the model wrote."""
    assert extract(text, prompt=OPEN_PROMPT, completes=True).outcome is Outcome.NO_ANSWER


@pytest.mark.parametrize(
    "nasty",
    [
        "```python\ndef add(a, b):\n    return " + "(" * 5000 + "a" + ")" * 5000 + "\n```",
        "```python\ndef add(a, b):\n    return " + "-" * 100_000 + "a\n```",
        "```python\ndef add(a, b):\n    return " + "+".join(["a"] * 50_000) + "\n```",
        "def add(a, b):\n" + "x = 1\n" * 5000,
        "```\n" * 5000,
        "def f\n" * 3000,
        "@a\n" * 3000,
        "\ud800 def add(a, b): return \0 1",
    ],
)
def test_strange_replies_end_in_an_extraction(nasty: str) -> None:
    """No reply makes extraction itself fail."""
    assert isinstance(extract(nasty), Extraction)


def test_invalid_escapes_warn_nobody() -> None:
    """A model's sloppy string is no warning of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = extract(
            '```python\nimport re\ndef add(a, b):\n    return len(re.findall("\\d", "12")) + 1\n```'
        )
    assert "\\d" in result.program


def test_blocks_keep_their_labels() -> None:
    """The word behind a fence is kept: other languages are chosen by it."""
    blocks = code_blocks("```php\n<?php echo 1;\n```\ntext\n```JavaScript\nlet x;\n```")
    assert [(block.label, block.code) for block in blocks] == [
        ("php", "<?php echo 1;"),
        ("javascript", "let x;"),
    ]
