"""What is known about one of our problems beyond what a discipline needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from triathlon_runner.datasets._problem import ClassProblem, Problem


@dataclass(frozen=True, slots=True)
class Wrong:
    """A plausible wrong solution; some input must tell it from the reference."""

    why: str
    code: str
    """A complete program that defines the entry point."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant of the reference that no input can kill, judged by hand."""

    mutant: str
    """`old line => new line`, as the mutation engine names it."""
    reason: str


@dataclass(frozen=True, slots=True)
class CoreProblem:
    """One problem with everything that its file holds."""

    problem: Problem
    set_name: str
    name: str
    """The file's stem, unique within its set."""
    input_names: tuple[str, ...]
    """One for each of `problem.inputs`: what the input is there for."""
    requires: str = ""
    """What the docstring promises about the arguments, as an expression over the parameters."""
    wrong: tuple[Wrong, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    helpers: str = ""
    """tool_use: the functions that the prompt offers."""
    translations: Mapping[str, str] = field(default_factory=dict)
    """References in other languages, by `sandbox.Language` value."""
    halves: tuple[str, ...] = ()
    """task_ids of the two problems in `decompose` that this seed was split into."""
    canary: str = ""


@dataclass(frozen=True, slots=True)
class CoreClass:
    """One class with everything that its file holds."""

    problem: ClassProblem
    survivors: tuple[Survivor, ...] = ()
    canary: str = ""
