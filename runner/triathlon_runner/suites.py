"""What a suite is: one data set with one protocol, and how one unit of it is run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from triathlon_runner.datasets import DataStore, Problem
from triathlon_runner.endpoints import Model
from triathlon_runner.grading import Grader
from triathlon_runner.metrics import Metric
from triathlon_runner.records import Discipline, UnitRecord
from triathlon_runner.sandbox import Language


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do for a model: a problem, or for runtime one program and input."""

    task_id: str
    level: int | None = None
    """1 (easy) to 5; profiles choose evenly over the levels."""
    group: str = ""
    """What a subset should keep together or spread over: for runtime the program."""


@dataclass(frozen=True, slots=True)
class DataSetInfo:
    """The data set of a suite, as the manifest names it."""

    name: str
    version: str
    sha256: str


class Suite(Protocol):
    """One data set with one protocol. Building one reads its data; running one asks and executes."""

    @property
    def id(self) -> str:
        """`discipline/dataset`, with `@variant` for a protocol setting that differs."""
        ...

    @property
    def discipline(self) -> Discipline: ...

    @property
    def data(self) -> DataSetInfo: ...

    def tasks(self) -> Sequence[Task]: ...

    def protocol(self, kind: str) -> Mapping[str, Any]:
        """All that shapes a result for models of this kind (instruct, base): prompts, sampling, data hash.

        JSON-serialisable. Its hash stands in every record and manifest.
        """
        ...

    async def run(self, task_id: str, sample: int, model: Model, grader: Grader, protocol: str) -> UnitRecord:
        """Runs one unit to its end.

        Raises:
            InfrastructureError: the unit stays open.
        """
        ...


@runtime_checkable
class Preparable(Protocol):
    """A suite that has to execute something (trace its references, say) before it knows its tasks."""

    async def prepare(self, grader: Grader) -> None:
        """Called once, before `tasks()` and `protocol()`; what it finds out may be kept on disk.

        Raises:
            SandboxError: a reference could not be executed.
        """
        ...


@runtime_checkable
class Programs(Protocol):
    """A suite whose tasks are functions to write: programs for it can be judged wherever they come from."""

    @property
    def inputs(self) -> Literal["base", "all"]:
        """The inputs on which its programs are judged."""
        ...

    def functions(self) -> tuple[Problem, ...]: ...


@runtime_checkable
class Judged(Protocol):
    """A suite that lets a second model compare texts; without one it says less, never something else."""

    judge: Model | None


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """A suite's place in the catalogue: known before its data is read."""

    id: str
    title: str
    discipline: Discipline
    metrics: tuple[Metric, ...]
    record: type[UnitRecord]
    """The schema of its lines."""
    build: Callable[[DataStore], Suite]
    """Reads the data (DataUnavailableError where there is none) and makes the suite."""
    core: bool = False
    """On our own problems: needs no download."""
    languages: tuple[Language, ...] = ()
    """What it executes beside Python: without their interpreters it cannot run."""
    variant_of: str | None = None
    """The suite id that this one differs from in one protocol setting, and in which kind of setting:"""
    variant_kind: str | None = None
    """prompts, temperatures, attacks, style or sampling."""
    set_name: str = ""
    """What a board over several sets calls this one: `difficult`."""
    seeds: str | None = None
    """The suite whose problems this one's were evolved from; its own id where they are the seeds."""
    averaged: bool = False
    """Whether it counts in the mean that stands for its discipline on such a board."""
    default_samples: int = 1
    """Samples a task under the profile `full` (REval: 5)."""
    at_temperature: "Callable[[float], SuiteEntry] | None" = None
    """The same suite asked at another temperature (`run --temperature`), as a suite of its own; at its own
    temperature itself. None where the temperature is no setting of the protocol."""
