"""Mutation testing of inputs: which of them tell a reference from programs that are nearly the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.concurrency import run_all
from triathlon_runner.evolved.evolve._execute import Result, run_on, same
from triathlon_runner.evolved.evolve._mutants import mutants
from triathlon_runner.sandbox import Limits, Sandbox

_LIMITS: Final = Limits(cpu_seconds=1.0, wall_seconds=30.0, result_bytes=1 << 20)
_MAX_MUTANTS: Final = 80


@dataclass(frozen=True, slots=True)
class Kills:
    """Which input kills which mutant."""

    by_mutant: dict[str, frozenset[int]]
    """Positions of the inputs on which the mutant gives something else than the reference."""

    @property
    def killed(self) -> int:
        return sum(bool(inputs) for inputs in self.by_mutant.values())

    @property
    def survivors(self) -> tuple[str, ...]:
        return tuple(name for name, inputs in self.by_mutant.items() if not inputs)


async def kills(
    sandbox: Sandbox, reference: str, entry_point: str, inputs: Sequence[str], truth: Sequence[Result]
) -> Kills:
    """Runs mutants of the reference on all inputs.

    Args:
        sandbox: where they run.
        reference: the program.
        entry_point: its function.
        inputs: sources of argument tuples.
        truth: what the reference gives on them.

    Raises:
        SandboxError: our machinery failed.
    """
    changed = mutants(reference)
    step = max(1, -(-len(changed) // _MAX_MUTANTS))
    chosen = changed[::step]
    outcomes = await run_all(
        run_on(sandbox, mutant.source, entry_point, inputs, limits=_LIMITS) for mutant in chosen
    )
    return Kills(
        {
            mutant.name: frozenset(
                index
                for index, (right, got) in enumerate(zip(truth, results, strict=True))
                if not same(right, got)
            )
            for mutant, results in zip(chosen, outcomes, strict=True)
        }
    )


def select(kills: Kills, count: int, inputs: int, first: int) -> list[int]:
    """At most `count` inputs, chosen greedily to kill as many mutants as all inputs do.

    Args:
        kills: what each input kills.
        count: how many to keep.
        inputs: how many there are.
        first: this many at the start are kept whatever they kill (those that examples were taken from).
    """
    chosen = list(range(min(first, inputs, count)))
    left = {name: hit for name, hit in kills.by_mutant.items() if hit and not hit & set(chosen)}
    while left and len(chosen) < count:
        best = max(range(inputs), key=lambda index: sum(index in hit for hit in left.values()))
        chosen.append(best)
        left = {name: hit for name, hit in left.items() if best not in hit}
    rest = [index for index in range(inputs) if index not in chosen]
    return sorted([*chosen, *rest[: count - len(chosen)]])
