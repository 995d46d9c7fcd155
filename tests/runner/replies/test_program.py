"""Taking programs out of replies (rule 3 of the specification, and what models really write).

All replies answer one task, `add`; each program is of this file's own making and is executed here.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from support.case_files import listed, sections
from triathlon_runner.records import Finish, Outcome, Reply
from triathlon_runner.replies import Extraction, extract_program
from triathlon_runner.syntax import parse_or_none

ADD = "def add(a, b):\n    return a + b\n"
GOOD = "def add(a, b):\n    total = a\n    total += b\n    return total\n"
BAD = ADD.replace("+", "-")
METHOD = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
TESTS = "def test_add():\n    assert add(3, 1) == 4\n    assert add(0, 0) == 0\n"
PROMPT = 'def add(a, b):\n    """Sum of both.\n\n    >>> add(1, 2)\n    3\n    """\n'
MBPP_PROMPT = '"""\nWrite a function to add two numbers.\nassert add(1, 2) == 3\n"""\n'
OPEN_PROMPT = 'from typing import List\n\n\ndef add(a: int, b: int) -> int:\n    """Adds."""\n'
COMPLETES = {"prompt": OPEN_PROMPT, "completes": True}
AS_WRITTEN = {"as_written": True}
CUT_AS_WRITTEN = {**AS_WRITTEN, "finish": Finish.LENGTH}


def extract(text: str, **options: Any) -> Extraction:
    defaults: dict[str, Any] = {"entry_point": "add", "prompt": MBPP_PROMPT, "completes": False}
    finish = options.pop("finish", Finish.STOP)
    return extract_program(Reply(text=text, finish=finish), **(defaults | options))


def call(extraction: Extraction, *arguments: Any) -> Any:
    """Runs a program of this file's own making (never of a model's)."""
    scope: dict[str, Any] = {"__name__": "program"}
    exec(extraction.program, scope)
    return scope["add"](*(arguments or (1, 2)))


def is_right(extraction: Extraction) -> bool:
    try:
        return bool(call(extraction) == 3 and call(extraction, -4, 4) == 0)
    except (Exception, SystemExit):  # whatever a wrong program raises
        return False


def fenced(code: str, label: str = "python") -> str:
    return f"```{label}\n{code}```\n"


def indented(code: str, by: str = "    ") -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in code.splitlines(keepends=True))


def replies(name: str) -> dict[str, str]:
    """The replies of a file, by what is special in them, with the programs that it names."""
    texts = {heading: f"{text}\n" for heading, text in sections(Path(__file__).with_name(name)).items()}
    programs = {"<GOOD>\n": GOOD, "<BAD>\n": BAD, "<ADD>\n": ADD, "<METHOD>\n": METHOD, "<TESTS>\n": TESTS}
    for mark, program in programs.items():
        texts = {heading: text.replace(mark, program) for heading, text in texts.items()}
    return texts


OTHER = listed(Path(__file__).with_name("other_replies.txt"))
BODIES = [
    *OTHER["bodies as they are"],
    *(
        form
        for body in OTHER["bodies in every form"]
        for form in (body, indented(body), fenced(body), fenced(indented(body)))
    ),
]
"""All lines come under the prompt's signature, at one depth."""
WHOLE = replies("other_programs.txt")
RIGHT = {
    **replies("right_in_fences.txt"),
    **replies("right_among_blocks.txt"),
    **replies("right_programs.txt"),
    "line ends of Windows": fenced(ADD).replace("\n", "\r\n"),
    "a byte order mark": f"\ufeff{fenced(ADD)}",
    "a tab behind prose": f"The function is:\n\n{indented(GOOD, chr(9))}\nDone.",
    "zero-width spaces": fenced(GOOD.replace("total = a", "\u200btotal = a\u200b")),
    "odd spaces": fenced(GOOD.replace("    return", "\u00a0\u00a0\u00a0\u00a0return")),
    "functions in functions": f"```python\n{ADD}\nx = {'lambda: ' * 2_000}1\n```",
    "fences in fences": "".join("`" * length + "md\n" for length in range(503, 2, -1)) + ADD,
    "set-up": WHOLE["set-up"],
    "line ends of old Macs in JSON": json.dumps({"code": f"{ADD}print(add(1, 2))\n".replace("\n", "\r")}),
}
WRONG = {
    **replies("wrong_programs.txt"),
    "an invisible character in a value": fenced(ADD.replace("b\n", "b if len('a\u200b') == 1 else 1\n")),
    "unfinished functions": "def f\n" * 3000,
    "unfinished decorators": "@a\n" * 3000,
    "no text": "\ud800 def add(a, b): return \0 1",
    "an escape that Python remarks on": fenced("def plus(a, b):\n    return '\\d'\n"),
}
CHANGES: dict[str, tuple[str, ...]] = {
    "a notebook": ("left out notebook commands",),
    "JSON": ("took the code out of JSON",),
    "odd spaces": ("replaced invisible characters",),
    "a class": ("Solution().add stands for add",),
    "another function name": ("plus stands for add",),
    "typing names": ("imported List from typing, which annotations name",),
    "an import and a helper in another block": ("took operator, plus from another block",),
    "a body alone": ("put the body under the prompt's signature",),
    "an escape that Python remarks on": ("plus stands for add",),
    **dict.fromkeys(("one block", "a correction", "a lambda", "set-up"), ()),
}


@pytest.mark.parametrize("reply", [*RIGHT.values(), *BODIES])
def test_a_right_answer_is_found(reply: str) -> None:
    """However a model packs a right program, at any depth and with all that it needs, it is executed."""
    extraction = extract(reply, prompt=PROMPT)
    assert is_right(extraction), extraction


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_stays_wrong(name: str) -> None:
    """No kindness makes a right program of a wrong answer."""
    extraction = extract(WRONG[name], prompt=PROMPT)
    assert not is_right(extraction), extraction


def test_whatever_was_done_is_said() -> None:
    """Each change beyond opening a fence is named in words."""
    said = {name: extract((RIGHT | WRONG)[name], prompt=PROMPT).changes for name in CHANGES}
    assert said == CHANGES


@pytest.mark.parametrize("character", ["\u200b", "\u00a0", "\ufeff", "\u200d", "\u3000"])
@pytest.mark.parametrize("quotes", ['"', "'", '"""', "'''"])
def test_literals_keep_their_characters(character: str, quotes: str) -> None:
    """Invisible characters in a string or comment are the program's own, even where others are replaced."""
    literal = f"{quotes}a{character}b{quotes}"
    for odd in (" ", "\u00a0"):
        assert call(extract(fenced(f"def add(a, b):\n   {odd}return {literal}\n"))) == f"a{character}b"


IN_PROSE = f"{GOOD}\nassert add(1, 2) == 4\n\nIt is linear.\n"
LAMBDA_IN_PROSE = "Here is the code:\n\nadd = lambda a, b: a\n"
RENAMED = ADD.replace("add", "add_numbers")
UNCHANGED = [
    *(
        (RIGHT[name], AS_WRITTEN, RIGHT[name].removeprefix("```python\n").removesuffix("```\n"))
        for name in ("its own tests", "a main part", "another function name", "a class")
    ),
    (f"{fenced(BAD)}No.\n{fenced(GOOD)}", AS_WRITTEN, BAD),
    (f"<think>\n{fenced(BAD)}</think>\n{fenced(GOOD)}", AS_WRITTEN, GOOD),
    (IN_PROSE, AS_WRITTEN, IN_PROSE),
    (f"```\npy\n\n{ADD}```", AS_WRITTEN, ADD),
    (fenced(LAMBDA_IN_PROSE), AS_WRITTEN, LAMBDA_IN_PROSE),
    (f"```python\n{ADD}```\nNow I expl", CUT_AS_WRITTEN, ADD),
    (fenced(RENAMED), {"other_names": False}, RENAMED),
]
"""The paper's rule: the first block or the whole reply, prose and all. Prompts may fix the name."""


@pytest.mark.parametrize(("reply", "options", "program"), UNCHANGED)
def test_a_protocol_may_change_nothing(reply: str, options: dict[str, Any], program: str) -> None:
    extraction = extract(reply, **options)
    assert (extraction.program, extraction.changes) == (program, ())


def test_the_prompts_imports_and_helpers_come_along() -> None:
    """But never the function asked for; `from __future__` stays the first statement."""
    helper = "import math\n\n\ndef half(x):\n    return math.floor(x / 2)\n\n\n"
    prompt = helper + "def add(a: float) -> float:\n    '''d'''\n"
    result = extract("```python\ndef add(a):\n    return half(a)\n```", prompt=prompt)
    assert (call(result, 5), result.changes) == (2, ("took half, math from the prompt",))
    lazy = extract(fenced("def other(a):\n    return 1\ndef another(a):\n    return 2\n"), prompt=prompt)
    assert "def add" not in lazy.program
    future = "from __future__ import annotations\ndef add(a: List[int], b) -> int:\n"
    result = extract(fenced(f"{future}    return math.floor(a + b)\n"), prompt="import math\n" + OPEN_PROMPT)
    assert call(result) == 3


def test_examples_that_run_are_left_out() -> None:
    """Prints, asserts, input, exits, a main part and what follows from an example do not run with it."""
    result = extract(WHOLE["examples that run"])
    examples = "log = []\ndef run():\n    log.append(add(1, 1))\n    return log\n"
    assert result.program == f"import sys\n{ADD}{examples}import unittest\n"
    assert result.changes == ("left out 23 statement(s) that only run examples",)


def test_the_models_own_code_is_kept_beside_the_program() -> None:
    """What is shown to the model again is what it wrote, line for line, not what was made of it."""
    code = "import math\n\ndef add(a, b):\n    \n    return a + b\n\nassert add(1, 2) == 3"
    for reply in (f"```python\n{code}\n```", f"Here:\n```\n{code}\n```\nDone.", code):
        result = extract(reply)
        assert result.written == code and "assert" not in result.program
    completion = extract("    return a + b\n\nprint(1)", **COMPLETES)
    assert completion.written == OPEN_PROMPT.replace('    """Adds."""\n', "    return a + b")


STOPPED, *_ = OTHER["cut in the program"]
"""Nobody knows how these would have gone on."""


@pytest.mark.parametrize(
    ("text", "options", "outcome"),
    [
        *((text, {}, Outcome.NO_ANSWER) for text in OTHER["no program"]),
        *((text, {"finish": Finish.LENGTH}, Outcome.TRUNCATED) for text in OTHER["cut in the program"]),
        (STOPPED, {"finish": Finish.REFUSED}, Outcome.REFUSED),
        (STOPPED, {"finish": Finish.CONTEXT_OVERFLOW}, Outcome.CONTEXT_OVERFLOW),
        *((text, COMPLETES, Outcome.NO_ANSWER) for text in ("", "    # think about it\n", "\n\nprint(1)\n")),
        *(
            (text, {**COMPLETES, "finish": Finish.LENGTH}, Outcome.TRUNCATED)
            for text in (
                "    total = a\n    total +=",
                "    return a + b",
                "\nimport re\ndef add(a, b):\n    if a:\n        return b\n    ret",
            )
        ),
        # By the paper's rule only a closed block was whole: its harness runs all that was written.
        *((text, CUT_AS_WRITTEN, Outcome.TRUNCATED) for text in (f"```python\n{ADD}\nprint(add(1,", ADD)),
        ("It is linear.", AS_WRITTEN, Outcome.NO_ANSWER),
    ],
)
def test_without_a_program_the_outcome_says_why(text: str, options: dict[str, Any], outcome: Outcome) -> None:
    """Prose is no empty program that crashes; what was stopped is no answer, unless it was whole before."""
    assert extract(text, **options) == Extraction("", (), outcome)


CUT = {name: text.removesuffix("\n") for name, text in replies("cut_programs.txt").items()}


@pytest.mark.parametrize("name", CUT)
def test_a_program_that_was_whole_before_the_cut_counts(name: str) -> None:
    """What was cut only shows how it is used, and is left out; so is a turn that the model invents."""
    result = extract(CUT[name], finish=Finish.LENGTH)
    assert call(result) == 3
    assert result.program.startswith(ADD.strip())
    is_noted = "cut off an unfinished example" in result.changes
    assert is_noted == (name not in list(CUT)[:6])


@pytest.mark.parametrize("example", OTHER["an example that does not parse"])
def test_an_example_that_does_not_parse_is_left_out(example: str) -> None:
    """The function in front of it is whole; a definition that does not parse is the model's program."""
    result = extract(fenced(f"{ADD}\n{example}"))
    assert (call(result), result.changes) == (3, ("left out an example that does not parse",))
    assert not parse_or_none(extract(fenced(f"{ADD}\n{example}\ndef helper(x):\n    return x\n")).program)


@pytest.mark.parametrize(
    ("broken", "options"),
    [*((text, {}) for text in OTHER["a program that does not compile"]), ("    return a +\n", COMPLETES)],
)
def test_a_program_that_does_not_compile_is_still_the_answer(broken: str, options: dict[str, Any]) -> None:
    """Broken code is handed on, so that its verdict says how it crashed; it is not called no answer."""
    result = extract(broken, **options)
    with pytest.raises(SyntaxError):
        compile(result.program, "p", "exec")
    assert result.outcome is None


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        *((OPEN_PROMPT, text) for text in OTHER["completions of a signature"]),
        *((MBPP_PROMPT, text) for text in OTHER["completions of a docstring"]),
    ],
)
def test_completions_end_where_they_leave_the_function(prompt: str, text: str) -> None:
    """What a base model invents behind the function does not count, and may be cut by the token limit."""
    result = extract(text, prompt=prompt, completes=True)
    assert call(result) == 3
    assert ast.parse(result.program) and "print" not in result.program
    done = extract("    return a + b\n\ndef sub(a, b):\n    ret", finish=Finish.LENGTH, **COMPLETES)
    assert (call(done), done.changes) == (3, ("cut off what follows the function",))
