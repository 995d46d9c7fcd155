"""The suites of this discipline: official sets, and ours as `core-…`."""

from collections.abc import Callable, Sequence
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

SEMANTIC_ALTERING: Final[tuple[EvoEvalSet, ...]] = ("difficult", "creative", "subtle", "combine", "tool_use")
SEED: Final = "humaneval"
_OTHER_SEEDS: Final = {"mbpp-plus": "mbpp-plus", "mbpp-pro": "mbpp-plus"}


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
_IN_SEQUENCE: Final = "two problems, one after the other"
_SELF_INVOKING: Final = "solved by calling the solution of a base problem"
_QUICK_TASKS: Final = {"evolved/core-seeds": 6, "evolved/core-verbose": 3, "evolved/core-concise": 3}
"""Tasks of `quick`; two for other suites. A small model solves some of the seeds and their rewordings."""
_NOT_IN_QUICK: Final = frozenset(
    ["evolved/core-tool_use-main_only", "evolved/core-decompose", "evolved/core-combine_naive"]
)

Read = Callable[[DataStore], tuple[DataSetInfo, Sequence[FunctionProblem]]]


@dataclass(frozen=True, slots=True)
class _Set:
    """A set of problems, before its data is read."""

    name: str
    title: str
    read: Read
    inputs: Literal["base", "all"] = "all"
    core: bool = False
    self_invoking: bool = False
    user_data: UserDataSet | None = None


def _of_file(file: DataFile, load: Callable[[DataStore], Sequence[FunctionProblem]]) -> Read:
    return lambda store: (DataSetInfo.of(file), load(store))


def _evoeval(name: EvoEvalSet, inputs: Literal["base", "all"] = "all") -> _Set:
    read = _of_file(official.EVOEVAL[name], partial(official.evoeval, name=name))
    return _Set(name, f"EvoEval {name}: {_ABOUT[name]}", read, inputs)


def _core(name: str, about: str) -> _Set:
    def read(_: DataStore) -> tuple[DataSetInfo, Sequence[Problem]]:
        return DataSetInfo(f"core {name}", core.VERSION, core.sha256(name)), core.problems(name)

    return _Set(name, f"Core {name}: {about}", read, core=True)


def _in_sequence(pairs: str, data_name: str, seeds: Read) -> Read:
    """Reads problems in sequence, made of those of another set."""

    def read(store: DataStore) -> tuple[DataSetInfo, Sequence[Problem]]:
        info, problems = seeds(store)
        data = DataSetInfo(data_name, info.version, problem_pairs.pairs_sha256(pairs, info.sha256))
        return data, problem_pairs.pair_problems(pairs, [p for p in problems if isinstance(p, Problem)])

    return read


def _humaneval(store: DataStore) -> tuple[Problem, ...]:
    return tuple(map(official.graded_typed, official.humaneval(store)))


_HUMANEVAL: Final = _of_file(official.HUMANEVAL_PLUS, _humaneval)
_SEEDS: Final = _core("seeds", "the problems that the other sets evolved from")
_OURS: Final = (
    _SEEDS,
    *(_core(name, about) for name, about in _ABOUT.items()),
    _Set(
        "combine_naive",
        f"Core combine_naive: {_IN_SEQUENCE}",
        _in_sequence("core", "core combine_naive", _SEEDS.read),
        core=True,
    ),
)
# EvoEval's board grades HumanEval, verbose and concise on the base inputs (spec, section 3).
_OFFICIAL: Final = (
    _Set("humaneval", "HumanEval", _HUMANEVAL, "base"),
    _Set("humaneval-plus", "HumanEval+", _of_file(official.HUMANEVAL_PLUS, official.humaneval_plus)),
    *map(_evoeval, SEMANTIC_ALTERING),
    _Set(
        "tool_use-main_only",
        f"EvoEval tool_use-main_only: {_ABOUT['tool_use-main_only']}",
        _of_file(official.EVOEVAL["tool_use"], official.evoeval_main_only),
    ),
    _evoeval("verbose", "base"),
    _evoeval("concise", "base"),
    _Set(
        "combine_naive",
        f"HumanEval combine_naive: {_IN_SEQUENCE}",
        _in_sequence("humaneval", f"pairs of {official.HUMANEVAL_PLUS.name}", _HUMANEVAL),
    ),
    _Set(
        "humaneval-pro",
        f"HumanEval Pro: {_SELF_INVOKING}",
        _of_file(official.HUMANEVAL_PRO, official.humaneval_pro),
        self_invoking=True,
    ),
    _Set("mbpp-plus", "MBPP+", _of_file(official.MBPP_PLUS, official.mbpp_plus)),
    _Set(
        "mbpp-pro",
        f"MBPP Pro: {_SELF_INVOKING}",
        _of_file(official.MBPP_PRO, official.mbpp_pro),
        self_invoking=True,
    ),
)


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites of the discipline, ours first; each asks for one greedy sample. `prompts` is `--prompts`."""
    return tuple(_entry(problem_set, prompts) for problem_set in (*_OURS, *_OFFICIAL))


def suites_of_user(data: UserDataSet, prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """The suite of a data set of the user's own."""

    def read(_: DataStore) -> tuple[DataSetInfo, Sequence[FunctionProblem]]:
        problems = data.read()
        return DataSetInfo(data.id, USER_VERSION, problems.sha256), problems.functions

    return (_entry(_Set(data.id, data.title, read, user_data=data), prompts),)


def _entry(problem_set: _Set, prompts: Path | None, temperature: float = GREEDY.temperature) -> SuiteEntry:
    """A set asked at a temperature; another than the paper's makes another suite."""
    name, user_data = problem_set.name, problem_set.user_data
    family = "evolved/core-" if problem_set.core else "evolved/"
    plain = f"{family}{name}"
    warm = temperature != GREEDY.temperature
    suite_id = f"{plain}@temperature-{temperature:g}" if warm else plain
    sampling = replace(GREEDY, temperature=temperature)
    seeds: str | None = f"{family}{'seeds' if problem_set.core else _OTHER_SEEDS.get(name, SEED)}"

    def build(store: DataStore) -> EvolvedSuite:
        info, problems = problem_set.read(store)
        if problem_set.inputs == "base":
            # Without the inputs that are never graded, the references need not run on them either.
            problems = [
                replace(each, inputs=each.inputs[: each.base_inputs]) if isinstance(each, Problem) else each
                for each in problems
            ]
        return EvolvedSuite(
            id=suite_id,
            data=info,
            problems={problem.task_id: problem for problem in problems},
            inputs=problem_set.inputs,
            prompts=load_prompts("evolved", prompts),
            sampling=sampling,
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
        sampling=sampling,
        base_stop=STOP_SELF_INVOKING if problem_set.self_invoking else STOP,
        quick_tasks=_QUICK_TASKS.get(plain, 2),
        in_quick=plain not in _NOT_IN_QUICK,
        core=problem_set.core,
        user_data=user_data,
        variant_of=plain if warm else None,
        variant_kind="temperatures" if warm else None,
        set_name=name,
        seeds=user_data.seeds if user_data else seeds,
        transformation=(user_data.transformation or "") if user_data else name,
        averaged=user_data is None and name in {"seeds", SEED, *SEMANTIC_ALTERING},
        at_temperature=partial(_entry, problem_set, prompts),
    )


DISCIPLINE: Final = DisciplineEntry(
    "evolved", catalogue, partial(load_prompts, "evolved"), one_board=True, suites_of_user=suites_of_user
)
