"""The suites of this discipline: our own programs, DREval's official questions, and those that we build."""

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, get_args

from triathlon_runner.datasets import DataFile, DataStore, core, official
from triathlon_runner.datasets.official import runtime_prompts
from triathlon_runner.datasets.user import USER_VERSION, UserDataSet, with_inputs
from triathlon_runner.errors import UserError
from triathlon_runner.prompts import BUILT_IN, load_prompts
from triathlon_runner.records import PredictionRecord, RuntimeRecord
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._metrics import METRICS, PREDICTION_METRICS
from triathlon_runner.runtime._programs import (
    Side,
    class_program,
    cruxeval_programs,
    dreval_programs,
    function_program,
)
from triathlon_runner.runtime._questions import (
    PAPER_REPEATS,
    PAPER_TEMPERATURE,
    STYLES,
    Asker,
    ProgramQuestions,
    Style,
    official_asker,
    read_questions,
    sampling,
)
from triathlon_runner.runtime._suite import PREDICTION_TEMPERATURE, PredictionSuite, RuntimeSuite
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry

_SETTINGS: Final = ("", "cot", "sampled", "cot-sampled")
"""How the questions of a data set are asked: what stands behind the `@` of a suite's id. `sampled` is as in
the paper, five times at temperature 0.8."""
_OF_DREVAL: Final = (
    "", "cot", "greedy", "greedy+cot", "reval-truths", "cot+reval-truths",
    "own-prompts", "own-prompts+cot", "own-prompts+greedy", "own-prompts+greedy+cot",
)  # fmt: skip
"""DREval is asked as REval's paper has it: sampled, and with REval's own prompts."""
_CHAIN_OF_THOUGHT: Final = " (chain of thought)"
_PARTS: Final = {
    "own-prompts": ("own-prompts", ", our prompts"),
    "reval-truths": ("truths", ", REval's truths"),
    "greedy": ("greedy", ", greedy"),
    "sampled": ("sampling", ", sampled"),
    "cot": ("style", ""),
}
"""Parts of a variant's name, with the kind of a variant whose first part it is, and what is added to the
title."""
_SETTING: Final = f"(@(?P<setting>{'|'.join(filter(None, _SETTINGS))}))?"
_OF_FILE: Final = re.compile(rf"(?P<file>.+\.json){_SETTING}")
_OF_RESULTS: Final = re.compile(rf"runtime/(?P<name>[\w.-]+){_SETTING}")


DATASETS: Final = {
    "core": "core programs",
    "dreval": "DREval, its own questions",
    "humaneval": "HumanEval, our questions",
    "classeval": "ClassEval, our questions",
    "cruxeval": "CRUXEval, our questions",
}
"""Their titles by name, as `questions build --dataset` takes it."""
_READERS: Final[dict[str, tuple[Callable[[DataStore], Iterable[ProgramQuestions]], tuple[DataFile, ...]]]] = {
    "dreval": (dreval_programs, (official.DREVAL_TASKS, official.DREVAL_DATA)),
    "humaneval": (
        lambda store: map(function_program, official.humaneval_original(store)),
        (official.HUMANEVAL, official.HUMANEVAL_PLUS),
    ),
    "classeval": (lambda store: map(class_program, official.classeval(store)), (official.CLASSEVAL,)),
    "cruxeval": (cruxeval_programs, (official.CRUXEVAL,)),
}
"""Of official data: its programs, and the files that they are read from."""


def question_source(dataset: str | UserDataSet, store: DataStore) -> QuestionSource:
    """The questions of one data set: a name of `DATASETS`, or one of suites.yaml.

    Raises:
        KeyError: no data set has this name.
        DataUnavailableError: its data is not here and cannot be fetched.
        UserError: the user's own problems cannot be read.
    """
    cache = store.cache / "questions"
    if not isinstance(dataset, str):
        user_problems = dataset.read()
        info = DataSetInfo(dataset.id, USER_VERSION, user_problems.sha256)
        problems = [*map(with_inputs, user_problems.functions)]
        return QuestionSource(info, lambda: [*map(function_program, problems)], cache)
    if dataset == "core":
        hashes = f"{core.sha256('seeds')}{core.sha256('classes')}"
        info = DataSetInfo(
            "core seeds and classes", core.VERSION, hashlib.sha256(hashes.encode()).hexdigest()
        )
        return QuestionSource(
            info,
            lambda: [*map(function_program, core.problems("seeds")), *map(class_program, core.classes())],
            cache,
        )
    read, files = _READERS[dataset]
    programs = [*read(store)]
    return QuestionSource(DataSetInfo.of(*files), lambda: programs, cache)


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites of questions, and those of predictions. `prompts` is `--prompts`."""
    return (
        *(
            _entry(
                name,
                title,
                partial(question_source, name),
                prompts,
                setting,
                core=name == "core",
                official=name == "dreval",
            )
            for name, title in DATASETS.items()
            for setting in (_OF_DREVAL if name == "dreval" else _SETTINGS)
        ),
        *(_prediction(side, style, prompts) for side, style in product(get_args(Side), STYLES)),
    )


def suites_of_user(data: UserDataSet, prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """The suites of questions on a data set of the user's own, built by our constructor."""
    source = partial(question_source, data)
    return tuple(_entry(data.id, data.title, source, prompts, name, user_data=data) for name in _SETTINGS)


def _entry(
    data_set: str,
    title: str,
    source: Callable[[DataStore], QuestionSource],
    prompts: Path | None,
    name: str,
    *,
    official: bool = False,
    **more: Any,
) -> SuiteEntry:
    """The suite of a data set in one setting: `runtime/core`, `runtime/core@cot-sampled`."""
    suite_id = f"runtime/{data_set}@{name}" if name else f"runtime/{data_set}"
    parts = name.replace("-sampled", "+sampled").split("+")
    style: Style = "cot" if "cot" in parts else "direct"
    is_sampled = "sampled" in parts or (official and "greedy" not in parts)
    temperature = PAPER_TEMPERATURE if is_sampled else 0.0

    def build(store: DataStore) -> RuntimeSuite:
        templates = load_prompts("runtime", prompts)
        asker = Asker(templates, style)
        # A user's own prompts go before both.
        if official and "own-prompts" not in parts and templates.name == BUILT_IN:
            asker = official_asker(runtime_prompts(store, style), style)
        questions = replace(source(store), truths="reval" if "reval-truths" in parts else "ours")
        return RuntimeSuite(suite_id, asker, questions, temperature, authors_rule=data_set == "dreval")

    words = [words for part, (_, words) in _PARTS.items() if part in parts]
    return SuiteEntry(
        id=suite_id,
        title=f"Runtime behaviour: {title}" + (_CHAIN_OF_THOUGHT if style == "cot" else "") + "".join(words),
        discipline="runtime",
        metrics=METRICS,
        record=RuntimeRecord,
        build=build,
        sampling=sampling(style, temperature),
        most_requests=None,
        quick_tasks=3,
        graded="in part",
        variant_of=f"runtime/{data_set}" if name else None,
        variant_kind=next((kind for part, (kind, _) in _PARTS.items() if part in parts), None),
        default_samples=PAPER_REPEATS if is_sampled else 1,
        **more,
    )


def entry_of_file(text: str, prompts: Path | None = None) -> SuiteEntry | None:
    """The suite of a question file, `questions.json` or `questions.json@cot`; None of other texts.

    It is called `runtime/questions`, after the file. Building it raises UserError where it is none.

    Raises:
        UserError: results could not be called after the file.
    """
    match = _OF_FILE.fullmatch(text)
    if match is None:
        return None
    path = Path(match["file"])
    if entry_of_results(f"runtime/{path.stem}") is None:
        raise UserError(
            f"expected a question file's name of letters, digits, '.', '_' and '-', got {path.name!r}; its"
            " results are called after it: rename it"
        )

    def source(_: DataStore) -> QuestionSource:
        questions = read_questions(path)
        return QuestionSource(questions.data, lambda: questions.programs, file=questions)

    return _entry(path.stem, f"questions of {path.name}", source, prompts, match["setting"] or "")


def entry_of_results(suite: str) -> SuiteEntry | None:
    """The suite of results whose question file is not here: for reading results, not for running."""
    match = _OF_RESULTS.fullmatch(suite)
    if match is None:
        return None

    def source(_: DataStore) -> QuestionSource:
        raise UserError(
            f"unknown suite {suite!r}: if its questions came from a file, name that at --suites of run or"
            " verify"
        )

    return _entry(match["name"], f"questions of {match['name']}", source, None, match["setting"] or "")


def _prediction(side: Side, style: Style, prompts: Path | None) -> SuiteEntry:
    """A side of CRUXEval, asked directly or with a chain of thought; nothing is read for this."""
    plain, is_cot = f"runtime/cruxeval-{side}", style == "cot"
    suite_id = f"{plain}@cot" if is_cot else plain

    def build(store: DataStore) -> PredictionSuite:
        tasks = {task.task_id: task for task in official.cruxeval(store)}
        asker = Asker(load_prompts("runtime", prompts), style)
        return PredictionSuite(suite_id, DataSetInfo.of(official.CRUXEVAL), tasks, side, asker)

    return SuiteEntry(
        id=suite_id,
        title=f"CRUXEval, {side} prediction" + (_CHAIN_OF_THOUGHT if is_cot else ""),
        discipline="runtime",
        metrics=PREDICTION_METRICS,
        record=PredictionRecord,
        build=build,
        sampling=sampling(style, PREDICTION_TEMPERATURE),
        quick_tasks=3,
        graded="in part",
        variant_of=plain if is_cot else None,
        variant_kind="style" if is_cot else None,
        default_samples=10,
    )


DISCIPLINE: Final = DisciplineEntry(
    "runtime",
    catalogue,
    partial(load_prompts, "runtime"),
    suites_of_user=suites_of_user,
    suite_of_file=entry_of_file,
    suite_of_results=entry_of_results,
)
