"""The contract of a discipline: its entry, its suites' entries, and what a suite does.

A new discipline is a folder with a `DisciplineEntry`, a record type, and one line in `catalogue.DISCIPLINES`;
`tests/support/spelling` is a small one. What `run`, `verify`, `--dry-run`, `suites` and the site need to know
stands in the fields below and in the methods of the record type.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol, runtime_checkable

from triathlon_runner.datasets import DataFile, DataStore, FunctionProblem
from triathlon_runner.datasets.user import UserDataSet
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Model, ModelKind, Sampling
from triathlon_runner.metrics import Metric
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import ProtocolHashes, RuntimeRecord, UnitRecord
from triathlon_runner.sandbox import Language

GradedWhere = Literal["outside", "in part"]
"""Where a verdict is decided. `outside`: expected values and comparison are never in the process of a model's
program; `in part`: an expression of plain values from the reply runs in one process with the data set's own
program."""


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

    @classmethod
    def of(cls, *files: DataFile, name: str = "") -> "DataSetInfo":
        """Returns one name, version and hash for the files that a data set is made of, at least one."""
        together = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()
        return cls(
            name or " + ".join(file.name for file in files),
            " + ".join(dict.fromkeys(file.version for file in files)),
            files[0].sha256 if len(files) == 1 else together,
        )


def asked_settings(data: DataSetInfo, sampling: Sampling, prompts: str, **more: Any) -> dict[str, Any]:
    """Returns what the hash `asked` covers; token limit and stop strings are not in it.

    `prompts` is the hash of the templates and demonstrations of both kinds of model; `more` is what else
    shapes a question, such as the style.
    """
    return {
        "data": data.sha256,
        "prompts": prompts,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        **more,
    }


def digest_of(texts: Sequence[Any]) -> str:
    """Returns a hash of questions or truths, given as texts, numbers and sequences of them."""
    return hashlib.sha256(json.dumps(texts, ensure_ascii=True).encode()).hexdigest()


def graded_settings(
    data: DataSetInfo, rule: Literal["value", "authors"] = "value", **more: Any
) -> dict[str, Any]:
    """Returns what the hash `graded` covers.

    The rule is `authors` where an answer counts as their program reads it, else what it states counts; `more`
    is what else decides which answers are right, such as the inputs.
    """
    return {"data": data.sha256, "rule": rule, **more}


def request_settings(kind: ModelKind, sampling: Sampling) -> dict[str, Any]:
    """Returns how a model of this kind is asked, which neither hash covers."""
    return {
        "api": "completions" if kind == "base" else "chat",
        "max_tokens": sampling.max_tokens,
        "stop": list(sampling.stop),
    }


@dataclass(frozen=True, slots=True)
class UnitRun:
    """One unit that is run: a sample of a task, who answers and grades it, and under which protocol."""

    task_id: str
    sample: int
    """From 0."""
    model: Model
    grader: Grader
    protocol: ProtocolHashes
    judge: Model | None = None
    """Without the LLM judge a suite that compares texts says less, never something else; others ignore it."""

    def record_fields(self, suite_id: str) -> dict[str, Any]:
        """Returns the fields of the unit's record that say which unit it is."""
        return {
            "suite": suite_id,
            "model": self.model.id,
            "task_id": self.task_id,
            "sample": self.sample,
            "protocol": self.protocol,
        }


class Suite(Protocol):
    """One data set with one set of settings. Building one reads its data; running one asks and executes."""

    @property
    def id(self) -> str:
        """`discipline/dataset`, with `@variant` for a setting that differs."""
        ...

    @property
    def data(self) -> DataSetInfo: ...

    def tasks(self) -> Sequence[Task]: ...

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """What the protocol's two hashes cover, under `asked` and `graded`: the same everywhere.

        Known before `prepare`. JSON-serialisable, as `settings`.
        """
        ...

    def settings(self, kind: ModelKind, judge: str | None = None, /) -> Mapping[str, Any]:
        """Returns what else shapes a result, for models of this kind: `api`, `max_tokens`, `stop`, `judge`.

        A suite that asks the judge of this id names it under the key `judge` as `{"model": id, …}`.
        """
        ...

    async def run(self, unit: UnitRun, /) -> UnitRecord:
        """Runs one unit to its end: a task of `tasks()`.

        Raises:
            InfrastructureError: the unit stays open.
        """
        ...


@runtime_checkable
class Preparable(Protocol):
    """A suite that has to execute something (trace its references, say) before it knows its tasks."""

    async def prepare(self, grader: Grader) -> None:
        """Called once, before `tasks()` and `settings()`; what it finds out may be kept on disk.

        Raises:
            SandboxError: a reference could not be executed.
        """
        ...


@runtime_checkable
class Programs(Protocol):
    """A suite whose tasks are functions to write: programs for it can be graded wherever they come from."""

    @property
    def inputs(self) -> Literal["base", "all"]:
        """The inputs on which its programs are graded."""
        ...

    def functions(self) -> tuple[FunctionProblem, ...]: ...


@runtime_checkable
class UsesLibraries(Protocol):
    """A suite whose programs import libraries; without them it has fewer tasks."""

    def libraries(self) -> frozenset[str]:
        """What its programs import that Python does not have; known before `prepare`."""
        ...


OFFICIAL_EXTRA: Final = "`pip install 'triathlon-leaderboard[official]'`"
"""Installs what programs of DREval and ClassEval import."""


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """A suite's place in the catalogue: known before its data is read."""

    id: str
    title: str
    discipline: str
    """The name of its `DisciplineEntry`."""
    metrics: tuple[Metric, ...]
    """Each with its role on a board; exactly one of a ranked suite is the headline."""
    record: type[UnitRecord]
    """The schema of its lines, which also says which replies a line holds (`questions`)."""
    build: Callable[[DataStore], Suite]
    """Reads the data (DataUnavailableError where there is none) and makes the suite."""
    sampling: Sampling
    """How an instruct model is asked."""
    base_stop: tuple[str, ...] | None = None
    """Where a base model is stopped; None: where an instruct model is."""
    most_requests: int | None = 1
    """Of one unit; None where it depends on the task and all questions of a task are asked at once."""
    quick_tasks: int = 2
    """Tasks under the profile `quick`."""
    in_quick: bool = True
    """Whether the profile `quick` takes the suite without its being named."""
    graded: GradedWhere = "outside"
    core: bool = False
    """On our own problems: needs no download."""
    user_data: UserDataSet | None = None
    """The data set of suites.yaml that it is on; None for a suite of the catalogue's own."""
    languages: tuple[Language, ...] = ()
    """Languages that it executes beside Python; it cannot run without their interpreters."""
    variant_of: str | None = None
    """The suite id that this one differs from in one setting, and in which kind of setting:"""
    variant_kind: str | None = None
    """prompts, temperatures, attacks, style, sampling, greedy, truths, own-prompts; `own-prompts+prompts`."""
    set_name: str = ""
    """What a board over several sets calls this one: `difficult`."""
    seeds: str | None = None
    """The suite whose problems this one's were evolved from; its own id where they are the seeds."""
    transformation: str = ""
    """How they were evolved: `combine`, `decompose`, …"""
    averaged: bool = False
    """Whether it counts in the mean that stands for its discipline on such a board."""
    default_samples: int = 1
    """Samples a task under the profile `full`, as many as the suite's paper takes."""
    at_temperature: "Callable[[float], SuiteEntry] | None" = None
    """The same suite asked at another temperature (`run --temperature`), as a suite of its own; at its own
    temperature itself. None where the settings fix the temperature."""

    @property
    def private(self) -> bool:
        """Whether texts of tasks and replies stay out of the site."""
        return self.user_data is not None and self.user_data.private

    @property
    def recorded_by_task(self) -> bool:
        """Whether a recorded line holds all samples of a task, which are asked several times."""
        return self.default_samples > 1 and not issubclass(self.record, RuntimeRecord)

    @property
    def seed_suites(self) -> tuple[str, ...]:
        """The suites that may hold its seeds: `-plus` has the same problems with more inputs."""
        return (self.seeds, f"{self.seeds}-plus") if self.seeds else ()

    def sampling_of(self, kind: ModelKind) -> Sampling:
        """Returns how a model of this kind is asked, before its row of models.yaml changes anything."""
        if kind == "base" and self.base_stop is not None:
            return replace(self.sampling, stop=self.base_stop)
        return self.sampling


@dataclass(frozen=True, slots=True)
class DisciplineEntry:
    """A discipline's place in the catalogue: its suites, its prompts, and its place on the site."""

    name: str
    """What the ids of its suites begin with."""
    suites: Callable[[Path | None], tuple[SuiteEntry, ...]]
    """All of them, variants included; the argument is a user's folder of prompts."""
    prompts: Callable[[Path | None], PromptSet] | None = None
    """Its prompts, with a user's folder of prompts in place of ours; None where it has no templates."""
    kind_of: str = ""
    """The discipline that this one is a kind of: its boards stand under that heading and do not count in the
    overall ranking. Empty for most."""
    one_board: bool = False
    """Whether its suites on one family of data are columns of one board; else each has a board of its own."""
    suites_of_user: Callable[[UserDataSet, Path | None], tuple[SuiteEntry, ...]] = lambda _data, _prompts: ()
    """The suites on a data set of suites.yaml, variants included; the second argument as of `suites`."""
    suite_of_file: Callable[[str, Path | None], SuiteEntry | None] = lambda _text, _prompts: None
    """From a name at `--suites` and a user's folder of prompts to a suite of the user's own file; None for
    other names."""
    suite_of_results: Callable[[str], SuiteEntry | None] = lambda _suite_id: None
    """From the suite id of results to what they mean, where the user's own file is not at hand."""
