"""Replies as models write them, right and wrong ones: a right answer is found, a wrong one stays wrong.

All of them answer one task, `running_max`; each program is of this file's own making and is executed here.
"""

from typing import Any

import pytest

from triathlon_runner.records import Outcome, Reply
from triathlon_runner.replies import Extraction, extract_program

PROMPT = (
    "def running_max(numbers):\n"
    '    """The largest number so far, for each number of a list.\n\n'
    '    >>> running_max([3, 1, 4])\n    [3, 3, 4]\n    """\n'
)
GOOD = """\
def running_max(numbers):
    result = []
    for number in numbers:
        result.append(number if not result or number > result[-1] else result[-1])
    return result
"""
SHORT = """\
from itertools import accumulate

def running_max(numbers):
    return list(accumulate(numbers, max))
"""
BAD = """\
def running_max(numbers):
    return [max(numbers) for _ in numbers]
"""
METHOD = """\
class Solution:
    def running_max(self, numbers):
        result = []
        for number in numbers:
            result.append(max(result[-1], number) if result else number)
        return result
"""
TESTS = """\
def test_running_max():
    assert running_max([3, 1, 4]) == [3, 3, 4]
    assert running_max([]) == []
"""


def fenced(code: str, label: str = "python") -> str:
    return f"```{label}\n{code}```\n"


def indented(code: str, by: str = "    ") -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in code.splitlines(keepends=True))


RIGHT = {
    "one block": fenced(GOOD),
    "a polite block": (
        f"Certainly! Here is the function:\n\n{fenced(GOOD)}\nLet me know if you have questions."
    ),
    "headings and bullets": (
        f"### Solution\n\n{fenced(GOOD)}\n### How it works\n\n- **Time**: O(n)\n- **Space**: O(n)"
    ),
    "the signature repeated at the end": f"{fenced(GOOD)}\nThe signature is `def running_max(numbers): ...`.",
    "the signature in a block": (
        f"{fenced(GOOD)}\nThe signature is:\n\n{fenced('def running_max(numbers): ...')}"
    ),
    "the signature as a stub with a docstring": (
        f"{fenced(GOOD)}\nSo its interface is\n"
        + fenced('def running_max(numbers: list) -> list:\n    """Largest so far."""\n')
    ),
    "the signature that does not parse": (
        f"{fenced(GOOD)}\nRemember:\n{fenced('def running_max(numbers) -> list')}"
    ),
    "tests with a stub": (
        f"{fenced(GOOD)}\nAnd the tests:\n"
        + fenced(f"def running_max(numbers):\n    pass  # your implementation here\n\n{TESTS}")
    ),
    "tests with a stub that raises": (
        f"{fenced(GOOD)}\nTest file:\n"
        + fenced(f"def running_max(numbers):\n    raise NotImplementedError\n\n{TESTS}")
    ),
    "tests that import it": f"{fenced(GOOD)}\n{fenced('from solution import running_max' + chr(10) + TESTS)}",
    "a correction": (
        f"{fenced(BAD)}\nWait, that is wrong: it looks ahead. Here is the corrected version:\n{fenced(GOOD)}"
    ),
    "an explained excerpt": (
        f"{fenced(GOOD)}\nThe important part is\n"
        + fenced("def running_max(numbers):\n    ...\n    return result\n")
    ),
    "an alternative behind it": f"{fenced(SHORT)}\nAlternatively, without imports:\n\n{fenced(GOOD)}",
    "usage": f"{fenced(GOOD)}\nUsage:\n{fenced('print(running_max([3, 1, 4]))  # [3, 3, 4]')}",
    "expected output": f"{fenced(GOOD)}\nOutput:\n{fenced('[3, 3, 4]', '')}",
    "no fence": GOOD,
    "no fence, an end token": f"{GOOD}</s>",
    "no fence, an end token in line": f"{GOOD.rstrip()}<|im_end|>",
    "prose, no fence, an end token": f"Here is the function:\n\n{GOOD}\nIt runs in linear time.<|eot_id|>",
    "an end token of DeepSeek": f"{GOOD}<｜end▁of▁sentence｜>",
    "no fence, prose behind": f"Here is the code:\n\n{GOOD}\nThis keeps the largest number so far.",
    "no fence, the signature in prose": f"{GOOD}\nThe signature is `def running_max(numbers): ...`",
    "no fence, a stub behind prose": f"{GOOD}\nThe signature is\ndef running_max(numbers): ...\n",
    "four spaces behind prose": f"The function is:\n\n{indented(GOOD)}\nIt keeps the largest number so far.",
    "four spaces, several paragraphs": f"First the idea.\n\nThen the code:\n\n{indented(SHORT)}\n\nDone.",
    "a tab behind prose": f"The function is:\n\n{indented(GOOD, chr(9))}\nDone.",
    "a block in a list": f"1. The code:\n\n{indented(fenced(GOOD), '   ')}\n2. Run it.",
    "a class": fenced(METHOD),
    "a class in prose": f"Here is a LeetCode-style solution:\n{fenced(METHOD)}\nIt is O(n).",
    "a class that is tried out": (
        fenced(f"{METHOD}\nsolution = Solution()\nprint(solution.running_max([3, 1]))\n")
    ),
    "a class and its tests": (
        f"{fenced(METHOD)}\n{fenced('def test_it():' + chr(10) + '    assert Solution()')}"
    ),
    "a class with a static method": (
        fenced(METHOD.replace("    def", "    @staticmethod\n    def").replace("self, ", ""))
    ),
    "a class with another method name": fenced(METHOD.replace("running_max", "runningMax")),
    "another function name": fenced(GOOD.replace("running_max", "rolling_maximum")),
    "another function name, tried out": fenced(
        GOOD.replace("running_max", "largest") + "\nassert largest([3, 1]) == [3, 3, 3], 'no such thing'\n"
    ),
    "a notebook": fenced(f"!pip install numpy\n%matplotlib inline\n{GOOD}"),
    "a pip line": fenced(f"pip install more-itertools\n\n{GOOD}"),
    "JSON": '{"code": ' + repr(GOOD).replace("'", '"') + ', "explanation": "Keeps the largest so far."}',
    "JSON in a block": fenced('{\n  "solution": ' + repr(SHORT).replace("'", '"') + "\n}\n", "json"),
    "JSON with a block in it": '{"answer": ' + repr(fenced(GOOD)).replace("'", '"') + "}",
    "JSON with files": '{"files": [{"name": "a.py", "content": ' + repr(GOOD).replace("'", '"') + "}]}",
    "typing names": fenced(
        GOOD.replace("(numbers):", "(numbers: List[int]) -> List[int]:").replace(
            "[]", "[]  # type: List[int]", 1
        )
    ),
    "typing names in a local annotation": fenced(
        GOOD.replace("(numbers)", "(numbers: Sequence[float])").replace("result = ", "result: List[float] = ")
    ),
    "an import in another block": (
        f"{fenced('from itertools import accumulate')}\n{fenced(SHORT.split(chr(10), 2)[2])}"
    ),
    "a helper behind": (
        fenced("def running_max(numbers):\n    return fold(numbers)\n")
        + "where\n"
        + fenced("def fold(numbers):\n    return [max(numbers[: n + 1]) for n in range(len(numbers))]\n")
    ),
    "thought about": f"<think>\n{fenced(BAD)}Hm, no.\n</think>\n\n{fenced(GOOD)}",
    "thought about twice": f"<think>a</think> <think>b</think>{fenced(GOOD)}",
    "a body alone": indented("".join(GOOD.splitlines(keepends=True)[1:]), ""),
    "odd spaces": fenced(GOOD.replace("    return", "\u00a0\u00a0\u00a0\u00a0return")),
    "zero-width spaces": fenced(GOOD.replace("result = []", "\u200bresult = []\u200b")),
    "a console session": "```\n"
    + "\n".join(("... " if line.startswith(" ") else ">>> ") + line for line in GOOD.splitlines())
    + "\n...\n>>> running_max([1])\n[1]\n```",
    "no closing fence": f"Here:\n```python\n{GOOD}",
    "a main part": fenced(f"{GOOD}\nif __name__ == '__main__':\n    print(running_max(eval(input())))\n"),
    "its own tests": fenced(f"{GOOD}\n{TESTS}\ntest_running_max()\nassert running_max([1, 2]) == [2, 2]\n"),
    "a nested fence": f"````markdown\n# Answer\n{fenced(GOOD)}````\n",
}
WRONG = {
    "wrong": fenced(BAD),
    "wrong without a fence": f"Sure!\n\n{BAD}\nDone.",
    "wrong after a right first version": (
        f"{fenced(GOOD)}\nI can simplify that. Final version:\n{fenced(BAD)}"
    ),
    "wrong and called corrected": f"{fenced(GOOD)}\nThis has a mistake. Corrected:\n{fenced(BAD)}",
    "right only in the thoughts": f"<think>\n{fenced(GOOD)}\n</think>\n{fenced(BAD)}",
    "a stub alone": fenced("def running_max(numbers):\n    pass\n"),
    "a signature alone": "The signature is `def running_max(numbers): ...`.",
    "words": "Keep the largest number so far in a variable and append it to a list.",
    "tests alone": fenced(TESTS),
    "wrong in JSON": '{"code": ' + repr(BAD).replace("'", '"') + "}",
    "broken JSON": '{"code": "' + GOOD.replace("\n", "\\n") + '"',
    "a wrong method": fenced(METHOD.replace("max(", "min(")),
    "a class that needs arguments": fenced(
        METHOD.replace(
            "class Solution:\n", "class Solution:\n    def __init__(self, size):\n        pass\n\n"
        )
    ),
    "two classes with the method": fenced(METHOD + METHOD.replace("Solution", "Other")),
    "two other functions": (
        fenced(GOOD.replace("running_max", "first") + BAD.replace("running_max", "second"))
    ),
    "a forgotten import": fenced(SHORT.split("\n", 2)[2]),
    "a forgotten import that is also an annotation": fenced(
        GOOD.replace("(numbers)", "(numbers: Iterable)").replace(
            "return", "assert isinstance(result, Iterable)\n    return"
        )
    ),
    "a missing colon": fenced(GOOD.replace("(numbers):", "(numbers)")),
    "bad indentation": fenced(GOOD.replace("    return", "   return")),
    "prose in the block": fenced(f"Here is the function:\n{GOOD}"),
    "the last line is missing": fenced(GOOD.replace("    return result\n", "")),
    "overwritten in the same block": fenced(f"{GOOD}\n{BAD}"),
    "another case of the name": (
        fenced(GOOD.replace("def running_max", "def runningmax") + "\ndef helper():\n    return 1\n")
    ),
    "an invisible character in a value": fenced(
        "def running_max(numbers):\n    return numbers if len('a\u200b') == 1 else 1\n"
    ),
    "curly quotes": fenced("def running_max(numbers):\n    return “numbers”\n"),
    "a lambda that is wrong": fenced("running_max = lambda numbers: sorted(numbers)\n"),
}
CASES: tuple[tuple[list[int], list[int]], ...] = (
    ([3, 1, 4], [3, 3, 4]),
    ([], []),
    ([-2, -5, -1], [-2, -2, -1]),
)


def extract(reply: str, **options: Any) -> Extraction:
    defaults: dict[str, Any] = {"entry_point": "running_max", "prompt": PROMPT, "completes": False}
    return extract_program(Reply(text=reply), **(defaults | options))


def is_right(extraction: Extraction) -> bool:
    """Whether the program gives what the task asks for."""
    scope: dict[str, Any] = {"__name__": "program"}
    try:
        exec(extraction.program, scope)
        return all(scope["running_max"](list(given)) == expected for given, expected in CASES)
    except Exception:  # whatever a wrong program raises
        return False


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_answer_is_found(name: str) -> None:
    """However a model packs a right program, it is the one that is executed."""
    extraction = extract(RIGHT[name])
    assert is_right(extraction), extraction


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_answer_stays_wrong(name: str) -> None:
    """No kindness makes a right program of a wrong answer."""
    extraction = extract(WRONG[name])
    assert not is_right(extraction), extraction


def test_whatever_was_done_is_said() -> None:
    """Each change beyond opening a fence is named in words."""
    said = {name: extract(reply).changes for name, reply in RIGHT.items()}
    assert said["a notebook"] == ("left out notebook commands",)
    assert said["JSON"] == ("took the code out of JSON",)
    assert said["odd spaces"] == ("replaced invisible characters",)
    assert said["a class"] == ("Solution().running_max stands for running_max",)
    assert said["typing names"] == ("imported List from typing, which annotations name",)
    assert said["one block"] == said["a correction"] == ()


@pytest.mark.parametrize("character", ["\u200b", "\u00a0", "\ufeff", "\u200d", "\u3000"])
@pytest.mark.parametrize("quotes", ['"', "'", '"""', "'''"])
def test_literals_keep_their_characters(character: str, quotes: str) -> None:
    """Invisible characters in a string or comment are the program's own, even where others are replaced."""
    literal = f"{quotes}a{character}b{quotes}"
    for odd in ("", "\u00a0"):
        extraction = extract(fenced(f"def running_max(numbers):\n   {odd or ' '}return {literal}\n"))
        scope: dict[str, Any] = {}
        exec(extraction.program, scope)
        assert scope["running_max"]([]) == f"a{character}b"


@pytest.mark.parametrize("name", ["its own tests", "a main part", "another function name", "a class"])
def test_as_written_changes_nothing(name: str) -> None:
    """Where programs are executed as written, what stands between the fences is executed, tests and all."""
    extraction = extract(RIGHT[name], as_written=True)
    assert f"```python\n{extraction.program}```\n" == RIGHT[name]
    assert extraction.changes == ()


def test_as_written_takes_the_first_block_or_the_whole_reply() -> None:
    """The paper's rule: a later version does not count, and without a block prose is executed, too."""
    assert extract(f"{fenced(BAD)}No.\n{fenced(GOOD)}", as_written=True).program == BAD
    assert extract(f"<think>\n{fenced(BAD)}</think>\n{fenced(GOOD)}", as_written=True).program == GOOD
    reply = f"{GOOD}\nassert running_max([1, 2]) == [2, 2]\n\nIt is linear.\n"
    assert extract(reply, as_written=True).program == reply
    assert extract("It is linear.", as_written=True).outcome is Outcome.NO_ANSWER
    assert "assert" not in extract(reply).program


def test_as_written_keeps_prose_in_a_block() -> None:
    """Prose that the model fenced with its program is executed with it, and breaks it."""
    written = "Here is the code:\n\nrunning_max = lambda numbers: numbers\n"
    assert extract(fenced(written), as_written=True).program == written
