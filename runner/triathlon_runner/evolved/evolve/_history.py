"""The whole history of one evolved problem: every question, reply, execution and decision."""

from typing import Literal

from pydantic import Field

from triathlon_runner.records import Strict, Usage


class Step(Strict):
    """One question to the model and its reply, or one result of executing programs."""

    kind: str
    """Name of the prompt, or `execute`, `compare`, `augment`, `mutants`."""
    round: int
    question: str = ""
    reply: str = ""
    found: str = ""
    """The result, in words."""


class History(Strict):
    """All steps of one job. Stored beside the problem file; a dropped problem has only this file."""

    schema_version: Literal[1] = Field(default=1, alias="schema")
    job: str
    transformation: str
    parents: tuple[str, ...]
    model: str
    served_model: str = ""
    prompts: str
    """Hash of the prompts that were used."""
    status: Literal["finished", "dropped"]
    reason: str = ""
    """Why it was dropped."""
    file: str = ""
    """Name of the problem file; empty where it was dropped."""
    rounds: int = 0
    steps: tuple[Step, ...]
    usage: Usage
    cost_usd: float | None = None
    solutions: tuple[str, ...] = ()
    """Both solutions of each problem that was written, for the reviewer to compare."""
    mutants: int = 0
    killed: int = 0
    survivors: tuple[str, ...] = ()
    inputs_from: dict[str, int] = Field(default_factory=dict)
    """Number of inputs of the problem by their source: `model`, `mutation`, `model again`, `seed`."""
    disputed: tuple[str, ...] = ()
    """Inputs on which the two solutions differ, found after they had agreed: a reader should look at them."""
    flags: tuple[str, ...] = ()
    """Other things that a reviewer should look at."""
