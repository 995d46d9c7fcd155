"""A scripted evolver for `python -m support.model_server` that makes a small, good problem of every seed."""

import re
from functools import cache

from support.scripted_evolver import fenced, kind_of, same_problem
from support.server_replies import Asked, Said
from triathlon_runner.datasets import Problem, core


@cache
def _seeds() -> dict[str, Problem]:
    return {seed.entry_point: seed for seed in core.problems("seeds")}


def answer(asked: Asked) -> str:
    """The new problem is the seed's answer as text, backwards; a rewording says the same in other words."""
    kind = kind_of(asked.prompt)
    name = next(
        name for name in re.findall(r"def (\w+)\(", asked.prompt) if name.removeprefix("back_") in _seeds()
    )
    seed = _seeds()[name.removeprefix("back_")]
    if kind == "transform":
        return fenced(_reworded(seed) if "Say the same in" in asked.prompt else _problem(seed))
    if kind == "solve":
        return fenced(_solution(seed) if name != seed.entry_point else seed.reference)
    if kind == "inputs":
        return "\n".join(f"{name}{text}" for text in seed.inputs[:8])
    return same_problem(asked.prompt)


def uncounted(asked: Asked) -> Said:
    """The same from a server that counts no tokens."""
    return Said(answer(asked), changes={"usage": None})


def _problem(seed: Problem) -> str:
    return seed.prompt.replace(f"def {seed.entry_point}(", f"def back_{seed.entry_point}(").replace(
        '"""', '"""Backwards, as `repr` writes it: ', 1
    )


def _reworded(seed: Problem) -> str:
    return seed.prompt.replace('"""', '"""To put it in other words, which mean the same: ', 1)


def _solution(seed: Problem) -> str:
    name = seed.entry_point
    return f"{seed.reference}\n\ndef back_{name}(*arguments):\n    return repr({name}(*arguments))[::-1]\n"
