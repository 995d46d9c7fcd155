"""Finds the pairs of problems that `evolved/combine_naive` and `evolved/core-combine_naive` are made of.

`PYTHONPATH=tools python -m pair_search --only core` rewrites the pair file of our own seeds, which is needed
after a change of them. With FOLDER, which holds the official data files, HumanEval's too (minutes).
Which problems can follow which is found by the types of what references returned, then by executing pairs.
"""

import argparse
import ast
import asyncio
import hashlib
import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, Final

from core_checks import detail
from triathlon_runner.datasets import DataStore, Problem, core, official
from triathlon_runner.evolved import problem_pairs
from triathlon_runner.evolved.problem_pairs import composed, composed_reference, problem_hash, prompt_parts
from triathlon_runner.sandbox import (
    Call,
    Job,
    Limits,
    Returned,
    Sandbox,
    SandboxError,
    Source,
    open_sandbox,
)
from triathlon_runner.syntax import has_plain_parameters

HUMANEVAL_PAIRS: Final = 1074
"""As many as the paper has (EvoEval, table 2), drawn from all that match and execute."""
CORE_PAIRS: Final = 100
"""As many as the other evolved sets of EvoEval have problems."""
MIN_INPUTS: Final = 3
"""Inputs that must remain of a pair; their outputs must not all be the same."""
_LIMITS: Final = Limits(cpu_seconds=4.0, result_bytes=1 << 20)
"""A pair whose own reference takes more is left out: some second steps explode on what the first gives."""


@dataclass(frozen=True, slots=True)
class Type:
    """A built-in type, with the types of what it holds; without parts where nothing was ever in it."""

    name: str
    parts: tuple["Type", ...] = ()

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.parts))}]" if self.parts else self.name


MIXED = Type("mixed")
"""Values of different types: equal to no other type, not even to itself."""


def type_of(value: Any) -> Type:
    """The type of one plain value; int and bool are two types."""
    if isinstance(value, dict):
        if not value:
            return Type("dict")
        return Type("dict", (common_type(map(type_of, value)), common_type(map(type_of, value.values()))))
    if isinstance(value, list | set | tuple):
        inside = (common_type(map(type_of, value)),) if value else ()
        return Type(type(value).__name__, inside)
    return Type(type(value).__name__)


def common_type(types: Iterable[Type]) -> Type:
    """The one type that all these are, where what is empty is any; `MIXED` where there is none."""
    return reduce(_join, types)


def _join(left: Type, right: Type) -> Type:
    if left.name != right.name:
        return MIXED
    if not left.parts or not right.parts:
        return left if left.parts else right
    return Type(left.name, tuple(map(_join, left.parts, right.parts)))


def fits(result: Type, argument: Type) -> bool:
    """Whether results of the one type are arguments of the other."""
    if MIXED in (result, argument) or result.name != argument.name:
        return False
    return not result.parts or not argument.parts or all(map(fits, result.parts, argument.parts))


@dataclass(frozen=True, slots=True)
class ProblemPair:
    """B after A."""

    first: str
    second: str
    dropped: tuple[int, ...] = ()
    """Positions of A's base inputs whose result B's contract forbids, or on which B's reference fails."""


@dataclass(frozen=True, slots=True)
class FoundPairs:
    """What the search over a set gave."""

    matching: int
    """Pairs whose types match."""
    pairs: tuple[ProblemPair, ...]
    """Those of them that execute, in the order of the set."""


@dataclass(frozen=True, slots=True)
class _Known:
    problem: Problem
    result: Type
    argument: Type | None
    """None where the function does not take exactly one argument."""


async def find_pairs(
    problems: Sequence[Problem], requires: Mapping[str, str], sandbox: Sandbox
) -> FoundPairs:
    """All pairs of a set that can be solved in sequence.

    Args:
        problems: the set; only base inputs count.
        requires: by task_id the body of a contract check, where a problem has one.
        sandbox: where the references run.

    Raises:
        SandboxError: a reference did not return on its inputs.
    """
    known = await asyncio.gather(*(_look_at(problem, sandbox) for problem in problems))
    matching = [(first, second) for first in known for second in known if _can_follow(first, second)]
    tried = await asyncio.gather(
        *(
            _try(first.problem, second.problem, requires.get(second.problem.task_id, ""), sandbox)
            for first, second in matching
        )
    )
    return FoundPairs(len(matching), tuple(pair for pair in tried if pair is not None))


def draw(known: FoundPairs, most: int) -> tuple[ProblemPair, ...]:
    """At most so many of the pairs, drawn at random but always the same, in the order of the set.

    The paper combines at random too, and does not say how many pairs its 1,074 were drawn from.
    """
    lots = {pair: hashlib.sha256(f"{pair.first}+{pair.second}".encode()).digest() for pair in known.pairs}
    chosen = set(sorted(known.pairs, key=lots.__getitem__)[:most])
    return tuple(pair for pair in known.pairs if pair in chosen)


async def _look_at(problem: Problem, sandbox: Sandbox) -> _Known:
    """Runs the reference to see the types of its arguments and results.

    The arguments come back from a function that returns them: they are source text until then.
    """
    inputs = tuple(map(Source, problem.inputs[: problem.base_inputs]))
    program = f"{problem.reference}\n\ndef its_arguments(*arguments):\n    return arguments\n"
    calls = (
        *(Call("its_arguments", text) for text in inputs),
        *(Call(problem.entry_point, text) for text in inputs),
    )
    execution = await sandbox.run(Job(program, calls, limits=_LIMITS, libraries=problem.libraries))
    values = [result.value for result in execution.results if isinstance(result, Returned)]
    if len(values) != len(calls):
        raise SandboxError(f"the reference of {problem.task_id} did not return on every base input")
    arguments, results = values[: len(inputs)], values[len(inputs) :]
    one_argument = all(len(row) == 1 for row in arguments)
    argument = common_type(type_of(row[0]) for row in arguments) if one_argument else None
    return _Known(problem, common_type(map(type_of, results)), argument)


def _can_follow(first: _Known, second: _Known) -> bool:
    if second.argument is None or first.problem.entry_point == second.problem.entry_point:
        return False
    if "checker" in (first.problem.comparison.oracle, second.problem.comparison.oracle):
        # Several results are right: so would be those of what follows; and a check looks at the arguments.
        return False
    return fits(first.result, second.argument) and _has_parts(first.problem) and _has_parts(second.problem)


def _has_parts(problem: Problem) -> bool:
    """Whether a prompt has one function, with a docstring and no parameters beyond plain ones."""
    try:
        function, _, _ = prompt_parts(problem)
    except (SyntaxError, ValueError):
        return False
    is_plain = has_plain_parameters(function) and not function.args.defaults
    return is_plain and bool(ast.get_docstring(function))


async def _try(first: Problem, second: Problem, requires: str, sandbox: Sandbox) -> ProblemPair | None:
    """The pair with the inputs that it can't take, or None where too little remains."""
    problem = composed(first, second)
    checked = _checked(second, requires)
    calls = tuple(Call(f"{first.entry_point}_then_{checked.entry_point}", Source(t)) for t in problem.inputs)
    job = Job(composed_reference(first, checked), calls, limits=_LIMITS, libraries=problem.libraries)
    execution = await sandbox.run(job)
    if len(execution.results) != len(calls):
        return None
    dropped = [index for index, result in enumerate(execution.results) if not isinstance(result, Returned)]
    outputs = [result.value for result in execution.results if isinstance(result, Returned)]
    if len(outputs) < MIN_INPUTS or all(output == outputs[0] for output in outputs):
        return None
    return ProblemPair(first.task_id, second.task_id, tuple(dropped))


def _checked(second: Problem, requires: str) -> Problem:
    """The problem with a reference that raises where step 1 gives it what its contract forbids.

    `requires` is the body, maybe empty, of a function of its parameter that raises where that is broken.
    """
    parameter = prompt_parts(second)[0].args.args[0].arg
    body = textwrap.indent(textwrap.dedent(requires), "    ") if requires.strip() else "    pass"
    reference = (
        f"{second.reference}\n\ndef requires({parameter}):\n{body}\n\n"
        f"def checked(passed_on):\n    requires(passed_on)\n    return {second.entry_point}(passed_on)\n"
    )
    return replace(second, entry_point="checked", reference=reference)


def set_hash(problems: Iterable[Problem]) -> str:
    """Short hash of a set, whatever its order."""
    lines = sorted(f"{problem.task_id} {problem_hash(problem)}" for problem in problems)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def to_json(pairs: FoundPairs, drawn: Sequence[ProblemPair], problems: Sequence[Problem]) -> str:
    """The text of a pairs file, one pair a line, with what was found: how many match by type and execute.

    `searched` is the hash of the whole set: one more problem, and there are other pairs to draw from.
    """
    used = {name for pair in drawn for name in (pair.first, pair.second)}
    hashes = {problem.task_id: problem_hash(problem) for problem in problems if problem.task_id in used}
    lines = ",\n".join(json.dumps([pair.first, pair.second, list(pair.dropped)]) for pair in drawn)
    return (
        f'{{"matching": {pairs.matching},\n"executable": {len(pairs.pairs)},\n'
        f'"searched": "{set_hash(problems)}",\n'
        f'"problems": {json.dumps(hashes, indent=0)},\n"pairs": [\n{lines}\n]}}\n'
    )


async def _rewrite(
    name: str, problems: Sequence[Problem], requires: Mapping[str, str], most: int, sandbox: Sandbox
) -> None:
    pairs = await find_pairs(problems, requires, sandbox)
    drawn = draw(pairs, most)
    (Path(problem_pairs.__file__).parent / "pairs" / f"{name}.json").write_text(
        to_json(pairs, drawn, problems), encoding="utf-8"
    )
    sys.stdout.write(f"{name}: {pairs.matching} match, {len(pairs.pairs)} execute, {len(drawn)} drawn\n")


async def _main(sets: Sequence[str], store: DataStore) -> None:
    async with open_sandbox() as sandbox:
        if "core" in sets:
            seeds = core.problems("seeds")
            details = {seed.task_id: detail(seed.task_id).requires for seed in seeds}
            requires = {name: f"assert {text}" for name, text in details.items() if text}
            await _rewrite("core", seeds, requires, CORE_PAIRS, sandbox)
        if "humaneval" in sets:
            rows = official.read_rows(store, official.HUMANEVAL_PLUS)
            contracts = {row["task_id"]: row["contract"] for row in rows}
            await _rewrite("humaneval", official.humaneval(store), contracts, HUMANEVAL_PAIRS, sandbox)


def main() -> None:
    """Reads the command line and rewrites."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", choices=("core", "humaneval"))
    arguments = parser.parse_args()
    sets = [arguments.only] if arguments.only else ["core", "humaneval"]
    if arguments.folder is None and "humaneval" in sets:
        parser.error("HumanEval's pairs need FOLDER with the official data files; or pass --only core")
    folder = arguments.folder or Path()
    asyncio.run(_main(sets, DataStore(cache=folder, folder=folder, fetch=False)))


if __name__ == "__main__":
    main()
