"""A scripted evolver for `python -m support.model_server` that makes small, good problems of every seed.

The model `small` solves seeds, and of what was evolved from them only the easy halves.
"""

import re
from functools import cache

from support.official_data import data_folder, official_store
from support.scripted_evolver import fenced, kind_of, same_problem
from support.server_replies import Asked
from triathlon_runner.datasets import Problem, core, official

_MADE = re.compile(r"^(back|boxed|only)_")
"""What the names of evolved functions begin with, in front of the seed's."""


@cache
def _seeds() -> dict[str, Problem]:
    """Our own, and HumanEval where it is here, by the names of their functions."""
    public = official.humaneval(official_store()) if data_folder().is_dir() else ()
    return {seed.entry_point: seed for seed in (*core.problems("seeds"), *public)}


def answer(asked: Asked) -> str:
    """Evolves and solves a seed."""
    seeds = _seeds()
    kind = kind_of(asked.prompt)
    names = re.findall(r"def (\w+)\(", asked.prompt)
    if kind == "solve":  # the function to be written stands behind those that it may call
        names.reverse()
    name = next(name for name in names if _MADE.sub("", name) in seeds)
    seed = seeds[_MADE.sub("", name)]
    if kind == "transform":
        return fenced(_transformed(seed, asked.prompt))
    if kind == "solve":
        lost = asked.body["model"] == "small" and name.startswith(("back_", "boxed_"))
        return fenced(f"def {name}(*arguments):\n    return None\n" if lost else _solution(name, seed))
    if kind == "inputs":
        inputs = ("([1],)", "(['a'],)", "([None],)") if name.startswith("only_") else seed.inputs[:8]
        return "\n".join(f"{name}{text}" for text in inputs)
    if kind == "join":
        return fenced(f"def {name}(*arguments):\n    return only_{name}(boxed_{name}(*arguments))\n")
    return same_problem(asked.prompt)


def _transformed(seed: Problem, question: str) -> str:
    """The seed's answer as text, backwards; in other words; or put into a list and taken out of it."""
    if "Say the same in" in question:
        return seed.prompt.replace('"""', '"""To put it in other words, which mean the same: ', 1)
    if "Split it into two" not in question:
        return _renamed(seed, "back", "Backwards, as `repr` writes it: ")
    only = f'def only_{seed.entry_point}(items: list):\n    """Return the only item of a list."""\n'
    return f"{_renamed(seed, 'boxed', 'As the only item of a list: ')}\n\n{only}"


def _renamed(seed: Problem, prefix: str, words: str) -> str:
    name = seed.entry_point
    return seed.prompt.replace(f"def {name}(", f"def {prefix}_{name}(").replace('"""', f'"""{words}', 1)


def _solution(name: str, seed: Problem) -> str:
    prefix, plain = name.partition("_")[0], seed.entry_point
    call = f"names = {{}}\n    exec({seed.reference!r}, names)\n    value = names[{plain!r}](*arguments)"
    bodies = {
        "back": f"{call}\n    return repr(value)[::-1]",
        "boxed": f"{call}\n    return [value]",
        "only": "return arguments[0][0]",
    }
    return seed.reference if name == plain else f"def {name}(*arguments):\n    {bodies[prefix]}\n"
