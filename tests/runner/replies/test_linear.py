"""No reply takes time that grows faster than it: steps are counted on a text and on one twice as long."""

from collections.abc import Callable

import pytest

from support.steps import steps_of
from triathlon_runner.records import Reply
from triathlon_runner.replies import extract_program, split_reasoning, visible_text

FENCE = "```python\n"
F = "def f(x):\n    return x + 1\n"
SHAPES: dict[str, Callable[[int], str]] = {
    "pairs": lambda n: "<think>a</think>\n" * n,
    "beginnings": lambda n: "<think>\n" * n,
    "beginnings in lines": lambda n: "x <think>y " * n,
    "ends": lambda n: "</think>" * n,
    "ends in text": lambda n: "<think>a</think>b" + "c </think>" * n,
    "other ends": lambda n: "<think>\n</thinking>\n" * n,
    "nested": lambda n: "<think>\n" * n + "</think>\n" * n + F,
    "channels": lambda n: "<|channel|>analysis<|message|>a<|end|>" * n,
    "half channels": lambda n: "<|channel|>analysis" * n,
    "end tokens": lambda n: F + "<|a|>" * n,
    "quoted tokens": lambda n: "'<|im_end|>' " * n,
    "boxes": lambda n: "\\boxed{" * n,
    "answers": lambda n: "<answer>a</answer>" * n,
    "quotes": lambda n: "<think>" + "'" * n,
    "triple quotes": lambda n: "<think>" + '"""' * n,
    "triple quotes in lines": lambda n: "<think>" + 'x = """\n' * n,
    "backticks": lambda n: "<think>" + " ".join("`" * (k % 40) for k in range(n)),
    "backslashes": lambda n: "<think>'" + "\\" * n,
    "hashes": lambda n: f"{FENCE}def f(x):\n    #{'#' * n}\n    return x\n```",
    "fences": lambda n: FENCE * n,
    "fences in quotes": lambda n: FENCE + '"""\n```\n' * n,
    "blocks": lambda n: f"{FENCE}{F}```\n" * n,
    "nested text": lambda n: "".join("`" * k + "md\n" for k in range(n // 8 + 3, 2, -1)) + F,
    "else": lambda n: "else=1\n" * n,
    "open brackets": lambda n: "x = (\n" * n,
    "open functions": lambda n: "def f(x\n" * n,
    "decorators": lambda n: "@x\n" * n,
    "unclosed": lambda n: f"{FENCE}def f(x):\n  return (\n" + "elif=1\n" * n,
    "chain of blocks": lambda n: (
        f"{FENCE}{F.replace('x + 1', 'g0(x)')}```\n"
        + "".join(f"{FENCE}def g{k}(x):\n    return g{k + 1}(x)\n```\n" for k in range(n))
    ),
    "chain in a block": lambda n: (
        f"{FENCE}{F.replace('x + 1', 'g0(x)')}```\n{FENCE}"
        + "".join(f"def g{k}(x):\n    return g{k + 1}(x)\n" for k in range(n))
        + "```"
    ),
    "methods": lambda n: f"{FENCE}class S:\n" + "".join(f"    def m{k}(self): pass\n" for k in range(n)),
    "classes": lambda n: FENCE + "".join(f"class S{k}:\n    def f(self): pass\n" for k in range(n)),
    "examples": lambda n: f"{FENCE}{F}" + "print(f(1))\n" * n,
    "set-up": lambda n: FENCE + "".join(f"a{k + 1} = a{k}\n" for k in range(n)) + F,
    "set-up that is used": lambda n: (
        FENCE + F.replace("1", f"a{n}") + "a0 = 1\n" + "".join(f"a{k + 1} = a{k}\n" for k in range(n))
    ),
    "results": lambda n: f"{FENCE}{F}" + "f = f(1)\n" * n,
    "blocks of results": lambda n: f"{FENCE}f = g(1)\n```\n" * n,
    "bodies": lambda n: f"{FENCE}{F.replace('f', 'g')}return g(f(x))\n```\n" * n,
    "bodies and tests": lambda n: f"{FENCE}return x\n```\n" * n + f"{FENCE}print(f(1))\n```",
    "messages": lambda n: "analysis" + f"{FENCE}{F}```assistantanalysis" * n,
    "prose": lambda n: "The value a = b and c = d.\n" * n,
    "body": lambda n: "    x = '''\n" * n + "    return x",
    "flush lines": lambda n: "    x = '''\n" + "flush\n" * n + "    '''\n    return x\ny",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["markup", "answer", "completion", "as written"])
def test_twice_the_text_takes_twice_the_steps(shape: str, way: str) -> None:
    """A little more is allowed for what a short text spares."""

    def steps(size: int) -> int:
        text = SHAPES[shape](size)
        if way == "markup":
            return steps_of(lambda: (split_reasoning(text), visible_text(text)))
        options = {"completes": way == "completion", "as_written": way == "as written"}
        return steps_of(
            lambda: extract_program(Reply(text=text), entry_point="f", prompt="def f(x):\n", **options)
        )

    short, long = steps(220), steps(440)
    assert long <= 2.4 * short + 2_000, (short, long)
