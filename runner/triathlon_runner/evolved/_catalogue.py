"""The suites of this discipline: official sets, and ours as `core-…`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.datasets import DataFile, DataStore, Problem, core, official
from triathlon_runner.evolved import naive
from triathlon_runner.evolved._metrics import METRICS
from triathlon_runner.evolved._suite import GREEDY, EvolvedSuite
from triathlon_runner.evolved.analysis import SEED, SEMANTIC_ALTERING
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Discipline, EvolvedRecord
from triathlon_runner.suites import DataSetInfo, SuiteEntry

Inputs = Literal["base", "all"]

_ABOUT: Final = {
    "difficult": "harder: more conditions or steps",
    "creative": "told as a story",
    "subtle": "one small change",
    "combine": "two problems in one",
    "tool_use": "helper functions are given",
    "tool_use-main_only": "the same without the helper functions",
    "verbose": "the seed in more words",
    "concise": "the seed in fewer words",
    "decompose": "halves of a seed",
}


_IN_SEQUENCE: Final = "two problems, one after the other"


@dataclass(frozen=True, slots=True)
class _OfficialSet:
    name: str
    title: str
    file: DataFile
    load: Callable[[DataStore], tuple[Problem, ...]]
    inputs: Inputs = "all"


def _evoeval(name: official.EvoEvalSet, inputs: Inputs = "all") -> _OfficialSet:
    title = f"EvoEval {name}: {_ABOUT[name]}"
    return _OfficialSet(name, title, official.EVOEVAL[name], partial(_load_evoeval, name), inputs)


def _load_evoeval(name: official.EvoEvalSet, store: DataStore) -> tuple[Problem, ...]:
    return official.evoeval(store, name)


def _humaneval(store: DataStore) -> tuple[Problem, ...]:
    return tuple(map(official.judged_typed, official.humaneval(store)))


# EvoEval's board judges HumanEval, verbose and concise on the base inputs (spec, section 3).
_OFFICIAL: Final = (
    _OfficialSet("humaneval", "HumanEval", official.HUMANEVAL_PLUS, _humaneval, "base"),
    _OfficialSet("humaneval-plus", "HumanEval+", official.HUMANEVAL_PLUS, official.humaneval_plus),
    _evoeval("difficult"),
    _evoeval("creative"),
    _evoeval("subtle"),
    _evoeval("combine"),
    _evoeval("tool_use"),
    _OfficialSet(
        "tool_use-main_only",
        f"EvoEval tool_use-main_only: {_ABOUT['tool_use-main_only']}",
        official.EVOEVAL["tool_use"],
        official.evoeval_main_only,
    ),
    _evoeval("verbose", "base"),
    _evoeval("concise", "base"),
)
_CORE: Final = {"seeds": "the problems that the other sets evolved from", **_ABOUT}


@dataclass(frozen=True, slots=True)
class _Asking:
    """What a user may set for all suites."""

    prompts: Path | None
    temperature: float

    def suite(
        self, suite_id: str, data: DataSetInfo, problems: tuple[Problem, ...], inputs: Inputs
    ) -> EvolvedSuite:
        return EvolvedSuite(
            id=suite_id,
            data=data,
            problems={problem.task_id: problem for problem in problems},
            inputs=inputs,
            prompts=load_prompts("evolved", self.prompts),
            sampling=replace(GREEDY, temperature=self.temperature),
        )


def catalogue(prompts: Path | None = None, temperature: float = GREEDY.temperature) -> tuple[SuiteEntry, ...]:
    """All suites of the discipline, ours first.

    Args:
        prompts: a folder whose `evolved/<name>.txt` replace our prompts.
        temperature: above 0 with several samples a task (pass@k); the protocol says so.
    """
    asking = _Asking(prompts, temperature)
    ours = (_core_entry(name, about, asking) for name, about in _CORE.items())
    others = (_official_entry(one, asking) for one in _OFFICIAL)
    return (*ours, _core_naive_entry(asking), *others, _naive_entry(asking))


def _core_entry(name: str, about: str, asking: _Asking) -> SuiteEntry:
    def build(_: DataStore) -> EvolvedSuite:
        data = DataSetInfo(f"core {name}", core.VERSION, core.sha256(name))
        return asking.suite(f"evolved/core-{name}", data, core.problems(name), "all")

    return _entry(f"evolved/core-{name}", f"Core {name}: {about}", build, ours=True)


def _official_entry(one: _OfficialSet, asking: _Asking) -> SuiteEntry:
    def build(store: DataStore) -> EvolvedSuite:
        data = DataSetInfo(one.file.name, one.file.version, one.file.sha256)
        problems = one.load(store)
        if one.inputs == "base":
            # Without the inputs that are never judged, the references need not run on them either.
            problems = tuple(replace(p, inputs=p.inputs[: p.base_inputs]) for p in problems)
        return asking.suite(f"evolved/{one.name}", data, problems, one.inputs)

    return _entry(f"evolved/{one.name}", one.title, build, ours=False)


def _core_naive_entry(asking: _Asking) -> SuiteEntry:
    suite_id = "evolved/core-combine_naive"

    def build(_: DataStore) -> EvolvedSuite:
        sha256 = naive.pairs_sha256("core", core.sha256("seeds"))
        data = DataSetInfo("core combine_naive", core.VERSION, sha256)
        return asking.suite(suite_id, data, naive.naive_problems("core", core.problems("seeds")), "all")

    return _entry(suite_id, f"Core combine_naive: {_IN_SEQUENCE}", build, ours=True)


def _naive_entry(asking: _Asking) -> SuiteEntry:
    suite_id = "evolved/combine_naive"

    def build(store: DataStore) -> EvolvedSuite:
        file = official.HUMANEVAL_PLUS
        problems = naive.naive_problems("humaneval", _humaneval(store))
        sha256 = naive.pairs_sha256("humaneval", file.sha256)
        data = DataSetInfo(f"pairs of {file.name}", file.version, sha256)
        return asking.suite(suite_id, data, problems, "all")

    return _entry(suite_id, f"HumanEval combine_naive: {_IN_SEQUENCE}", build, ours=False)


def _entry(
    suite_id: str, title: str, build: Callable[[DataStore], EvolvedSuite], *, ours: bool
) -> SuiteEntry:
    prefix, seeds = ("evolved/core-", "seeds") if ours else ("evolved/", SEED)
    name = suite_id.removeprefix(prefix)
    return SuiteEntry(
        id=suite_id,
        title=title,
        discipline=Discipline.EVOLVED,
        metrics=METRICS,
        record=EvolvedRecord,
        build=build,
        core=ours,
        set_name=name,
        seeds=f"{prefix}{seeds}",
        averaged=name in {seeds, *SEMANTIC_ALTERING},
    )
