"""The suites of this discipline: official sets, and ours as `core-…`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, Literal

from triathlon_runner.datasets import DataFile, DataStore, FunctionProblem, Problem, core, official
from triathlon_runner.datasets.rows import EvoEvalSet
from triathlon_runner.datasets.user import USER_VERSION, UserDataSet
from triathlon_runner.evolved import problem_pairs
from triathlon_runner.evolved._suite import GREEDY, STOP, STOP_SELF_INVOKING, EvolvedSuite
from triathlon_runner.metrics import Metric, pass_at_k_metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry

SEMANTIC_ALTERING: Final[tuple[EvoEvalSet, ...]] = (
    "difficult",
    "creative",
    "subtle",
    "combine",
    "tool_use",
)
SEED: Final = "humaneval"
_OTHER_SEEDS: Final = {"mbpp-plus": "mbpp-plus", "mbpp-pro": "mbpp-plus"}

Inputs = Literal["base", "all"]


def pass_at_k(k: int) -> Metric:
    """pass@k over the tasks that have at least k samples."""
    source = "EvoEval, section 3 (pass@1 of one greedy sample); Chen et al. 2021, equation 1"
    return pass_at_k_metric(k, source)


SAMPLED_METRICS: Final = tuple(map(pass_at_k, (1, 2, 3, 5, 10, 20, 50, 100)))
"""Of a suite asked at a temperature; undefined for k above the number of samples."""

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
_CORE: Final = {"seeds": "the problems that the other sets evolved from", **_ABOUT}
_IN_SEQUENCE: Final = "two problems, one after the other"
_SELF_INVOKING: Final = "solved by calling the solution of a base problem"

_QUICK_TASKS: Final = {"evolved/core-seeds": 6, "evolved/core-verbose": 3, "evolved/core-concise": 3}
"""Tasks of `quick`; two for other suites. A small model solves some of the seeds and their rewordings."""
_NOT_IN_QUICK: Final = frozenset(
    ["evolved/core-tool_use-main_only", "evolved/core-decompose", "evolved/core-combine_naive"]
)

Load = Callable[[DataStore], tuple[FunctionProblem, ...]]
Read = Callable[[DataStore], tuple[DataSetInfo, tuple[FunctionProblem, ...]]]


@dataclass(frozen=True, slots=True)
class _Set:
    """A set of problems, before its data is read."""

    name: str
    title: str
    read: Read
    inputs: Inputs = "all"
    core: bool = False
    self_invoking: bool = False
    user_data: UserDataSet | None = None


def _official(name: str, title: str, file: DataFile, load: Load, *, inputs: Inputs = "all") -> _Set:
    return _Set(name, title, lambda store: (DataSetInfo.of(file), load(store)), inputs)


def _evoeval(name: EvoEvalSet, inputs: Inputs = "all") -> _Set:
    load = partial(official.evoeval, name=name)
    return _official(name, f"EvoEval {name}: {_ABOUT[name]}", official.EVOEVAL[name], load, inputs=inputs)


def _pro(name: str, title: str, file: DataFile, load: Load) -> _Set:
    return replace(_official(name, f"{title}: {_SELF_INVOKING}", file, load), self_invoking=True)


def _humaneval(store: DataStore) -> tuple[Problem, ...]:
    return tuple(map(official.graded_typed, official.humaneval(store)))


def _combine_naive(store: DataStore) -> tuple[DataSetInfo, tuple[Problem, ...]]:
    file = official.HUMANEVAL_PLUS
    sha256 = problem_pairs.pairs_sha256("humaneval", file.sha256)
    info = DataSetInfo(f"pairs of {file.name}", file.version, sha256)
    return info, problem_pairs.pair_problems("humaneval", _humaneval(store))


# EvoEval's board grades HumanEval, verbose and concise on the base inputs (spec, section 3).
_OFFICIAL: Final = (
    _official("humaneval", "HumanEval", official.HUMANEVAL_PLUS, _humaneval, inputs="base"),
    _official("humaneval-plus", "HumanEval+", official.HUMANEVAL_PLUS, official.humaneval_plus),
    *map(_evoeval, SEMANTIC_ALTERING),
    _official(
        "tool_use-main_only",
        f"EvoEval tool_use-main_only: {_ABOUT['tool_use-main_only']}",
        official.EVOEVAL["tool_use"],
        official.evoeval_main_only,
    ),
    _evoeval("verbose", "base"),
    _evoeval("concise", "base"),
    _Set("combine_naive", f"HumanEval combine_naive: {_IN_SEQUENCE}", _combine_naive),
    _pro("humaneval-pro", "HumanEval Pro", official.HUMANEVAL_PRO, official.humaneval_pro),
    _official("mbpp-plus", "MBPP+", official.MBPP_PLUS, official.mbpp_plus),
    _pro("mbpp-pro", "MBPP Pro", official.MBPP_PRO, official.mbpp_pro),
)


def _core_set(name: str) -> _Set:
    def read(_: DataStore) -> tuple[DataSetInfo, tuple[Problem, ...]]:
        return DataSetInfo(f"core {name}", core.VERSION, core.sha256(name)), core.problems(name)

    return _Set(name, f"Core {name}: {_CORE[name]}", read, core=True)


def _core_naive(_: DataStore) -> tuple[DataSetInfo, tuple[Problem, ...]]:
    sha256 = problem_pairs.pairs_sha256("core", core.sha256("seeds"))
    info = DataSetInfo("core combine_naive", core.VERSION, sha256)
    return info, problem_pairs.pair_problems("core", core.problems("seeds"))


_OURS: Final = (
    *map(_core_set, _CORE),
    _Set("combine_naive", f"Core combine_naive: {_IN_SEQUENCE}", _core_naive, core=True),
)


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites of the discipline, ours first; each asks for one greedy sample. `prompts` is `--prompts`."""
    return tuple(_entry(problem_set, prompts) for problem_set in (*_OURS, *_OFFICIAL))


def suites_of_user(data: UserDataSet, prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """The suite of a data set of the user's own."""

    def read(_: DataStore) -> tuple[DataSetInfo, tuple[FunctionProblem, ...]]:
        user_problems = data.read()
        info = DataSetInfo(data.id, USER_VERSION, user_problems.sha256)
        return info, tuple(user_problem.problem for user_problem in user_problems.problems)

    return (_entry(_Set(data.id, data.title, read, user_data=data), prompts),)


def _entry(problem_set: _Set, prompts: Path | None, temperature: float = GREEDY.temperature) -> SuiteEntry:
    """A set asked at a temperature; another than the paper's makes another suite."""
    family, user_data = "evolved/core-" if problem_set.core else "evolved/", problem_set.user_data
    plain = f"{family}{problem_set.name}"
    warm = temperature != GREEDY.temperature
    suite_id = f"{plain}@temperature-{temperature:g}" if warm else plain
    seeds: str | None = f"{family}{'seeds' if problem_set.core else _OTHER_SEEDS.get(problem_set.name, SEED)}"
    transformation = problem_set.name
    if user_data is not None:
        seeds, transformation = user_data.seeds, user_data.transformation or ""

    def build(store: DataStore) -> EvolvedSuite:
        info, problems = problem_set.read(store)
        if problem_set.inputs == "base":
            # Without the inputs that are never graded, the references need not run on them either.
            problems = tuple(
                replace(each, inputs=each.inputs[: each.base_inputs]) if isinstance(each, Problem) else each
                for each in problems
            )
        return EvolvedSuite(
            id=suite_id,
            data=info,
            problems={problem.task_id: problem for problem in problems},
            inputs=problem_set.inputs,
            prompts=load_prompts("evolved", prompts),
            sampling=replace(GREEDY, temperature=temperature),
            typing_names=problem_set.core or user_data is not None,
            self_invoking=problem_set.self_invoking,
        )

    return SuiteEntry(
        id=suite_id,
        title=f"{problem_set.title} (temperature {temperature:g})" if warm else problem_set.title,
        discipline="evolved",
        metrics=SAMPLED_METRICS if warm else (pass_at_k(1),),
        record=EvolvedRecord,
        build=build,
        sampling=replace(GREEDY, temperature=temperature),
        base_stop=STOP_SELF_INVOKING if problem_set.self_invoking else STOP,
        quick_tasks=_QUICK_TASKS.get(plain, 2),
        in_quick=plain not in _NOT_IN_QUICK,
        core=problem_set.core,
        user_data=user_data,
        variant_of=plain if warm else None,
        variant_kind="temperatures" if warm else None,
        set_name=problem_set.name,
        seeds=seeds,
        transformation=transformation,
        averaged=user_data is None and problem_set.name in {"seeds", SEED, *SEMANTIC_ALTERING},
        at_temperature=partial(_entry, problem_set, prompts),
    )


DISCIPLINE: Final = DisciplineEntry(
    "evolved", catalogue, partial(load_prompts, "evolved"), one_board=True, suites_of_user=suites_of_user
)
