"""A scripted evolver for `python -m support.model_server` that does everything wrong, each seed otherwise.

What it does with a seed shows in the name of the function that it makes of it, so that every later question
about that function says what to do next.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache

from support.scripted_evolver import fenced, kind_of, same_problem
from support.server_replies import Asked, Response, Said
from triathlon_runner.datasets import Problem, core

NUL_AND_TAGS = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x07 \u202e {{ 7 * 7 }} \\"
DEEP = "-" * 1800 + "1"
KILLS = "import os, signal; os.kill(os.getppid(), signal.SIGKILL); os.kill(0, signal.SIGKILL)"
WRITES = "import os; [os.write(fd, b'\\x00\\x00\\x00\\x04null' * 99) for fd in range(3, 9)]; return 1"

NO_PROBLEM: Mapping[str, str | Said] = {
    "prose": "What a lovely seed! I would not change a thing.",
    "empty": "",
    "unparsed": fenced("def broken(x:\n    '''Never closed"),
    "json": '{"prompt": "def f(x):\\n    \\"\\"\\"It is a sum',
    "toml": 'prompt = """\ndef f(x):\n    pass\n[[half]\nreference = ',
    "cut": Said(fenced('def cut(x):\n    """Return the sum of'), finish="length"),
    "refusal": Said(None, refusal="I can't help with that."),
    "nested": fenced(f'def nested(x={DEEP}):\n    """Return the sum of all numbers."""'),
    "nul": fenced('def nul(x):\n    """Return the\x00sum of all numbers."""'),
}
"""Replies to a seed that hold no problem; it says the same when it is asked to fix that."""
BODIES: Mapping[str, str] = {
    "good": "return repr(arguments)[::-1] + '!'",
    "raises": "raise ValueError('</td><script>alert(3)</script>')",
    "endless": "while True: pass",
    "leaves": "import os; os._exit(0)",
    "huge": "return 'a' * 10 ** 10",
    "many": "return [[0] * 10 ** 6 for _ in range(10 ** 4)]",
    "kills": KILLS,
    "writes": WRITES,
    "forks": "import os\n    while True: os.fork()",
    "surrogate": "return '\\ud800' + repr(arguments)",
    "chance": "import os; return os.urandom(8).hex()",
    "tags": "return '</pre><script>alert(4)</script>' + repr(arguments)",
}
"""What the solutions of the other functions do."""
WAYS = (*BODIES, *NO_PROBLEM, "seed", "renamed", "calls")


@cache
def _seeds() -> Mapping[str, Problem]:
    return {seed.entry_point: seed for seed in core.problems("seeds")}


def way_of(seed: str) -> str:
    """What it does with the seed of this name."""
    return WAYS[int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4]) % len(WAYS)]


def answer(asked: Asked) -> str | Response:
    """The next thing that it does wrong."""
    kind = kind_of(asked.prompt)
    made = re.search(rf"def ((?:{'|'.join(BODIES)}|seed|renamed|calls)_(\w+))\(", asked.prompt)
    if made is None:
        seed = _seed_in(asked.prompt)
        return "I can't." if seed is None else _made_of(seed, kind)
    name, origin = made[1], _seeds()[made[2]]
    replies: Mapping[str, Callable[[], str]] = {
        "fix": lambda: "I have nothing to add.",
        "solve": lambda: _solution(name, origin),
        "inputs": lambda: _inputs(name, origin),
        "examples": lambda: same_problem(asked.prompt),
        "disagree": lambda: same_problem(asked.prompt),
        "join": lambda: "It cannot be done.",
    }
    return replies[kind]()


def _seed_in(question: str) -> Problem | None:
    names = re.findall(r"def (\w+)\(", question)
    return next((_seeds()[name] for name in names if name in _seeds()), None)


def _made_of(seed: Problem, kind: str) -> str | Response:
    way = way_of(seed.entry_point)
    if kind not in ("transform", "fix"):  # a rewording keeps the seed's name
        return "I can't."
    if way in NO_PROBLEM:
        return NO_PROBLEM[way]
    if way == "seed":
        return fenced(seed.prompt.replace(f"def {seed.entry_point}(", f"def seed_{seed.entry_point}("))
    parameters = re.search(r"def \w+\((.*?)\)(?: ->.*?)?:\n", seed.prompt, re.DOTALL)
    assert parameters is not None
    docstring = NUL_AND_TAGS.replace("\\", "\\\\") + " Return something that nobody has asked for before."
    imports = "".join(re.findall(r"^(?:from|import) .*\n", seed.prompt, re.MULTILINE))
    return fenced(f'{imports}def {way}_{seed.entry_point}({parameters[1]}):\n    """{docstring}"""\n')


def _solution(name: str, seed: Problem) -> str:
    way = name.partition("_")[0]
    if way in ("renamed", "seed"):
        return fenced(re.sub(rf"\b{seed.entry_point}\b", name, seed.reference))
    return fenced(f"def {name}(*arguments):\n    {BODIES[way if way in BODIES else 'good']}\n")


def _inputs(name: str, seed: Problem) -> str:
    calls = [f"{name}{text}" for text in seed.inputs[:8]]
    if name.startswith("calls_"):
        calls += [
            f"{name}(__import__('os').system('touch pwned'))",
            f"{name}(10 ** 10 ** 10)",
            f"{name}({DEEP})",
            f"{name}({'[' * 150}{']' * 150})",
            f"{name}(*[1])",
            f"{name}('\\ud800', \x00)",
        ]
    return "```\n" + "\n".join(calls) + "\n```"
