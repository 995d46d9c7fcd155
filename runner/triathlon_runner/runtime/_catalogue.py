"""The suites of this discipline: our own programs, DREval's official questions, and those that we build."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

from triathlon_runner.datasets import DataFile, DataStore, core, official
from triathlon_runner.datasets.user import USER_VERSION, UserDataSet, with_inputs
from triathlon_runner.errors import UserError
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import RuntimeRecord
from triathlon_runner.runtime import prediction
from triathlon_runner.runtime._asking import PAPER_REPEATS, PAPER_TEMPERATURE, STYLES, Asker, Style, sampling
from triathlon_runner.runtime._metrics import METRICS
from triathlon_runner.runtime._official import (
    classeval_subjects,
    cruxeval_subjects,
    dreval_subjects,
    humaneval_subjects,
)
from triathlon_runner.runtime._programs import Subject, class_subject, function_subject
from triathlon_runner.runtime._source import FileSource, QuestionSource
from triathlon_runner.runtime._suite import RuntimeSuite, Source
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry


@dataclass(frozen=True, slots=True)
class _DataSet:
    name: str
    title: str
    source: Callable[[DataStore], QuestionSource]
    core: bool = False
    user_data: UserDataSet | None = None


def _core_data() -> DataSetInfo:
    parts = f"{core.sha256('seeds')}{core.sha256('classes')}"
    return DataSetInfo("core seeds and classes", core.VERSION, hashlib.sha256(parts.encode()).hexdigest())


def core_subjects() -> Sequence[Subject]:
    """Our own functions and classes."""
    return [*map(function_subject, core.problems("seeds")), *map(class_subject, core.classes())]


def _core_source(store: DataStore) -> QuestionSource:
    return QuestionSource(_core_data(), core_subjects, store.cache / "questions")


def _official_source(
    subjects: Callable[[DataStore], Sequence[Subject]], *made_of: DataFile
) -> Callable[[DataStore], QuestionSource]:
    def source(store: DataStore) -> QuestionSource:
        programs = subjects(store)  # here, so that missing data is said before anything runs
        return QuestionSource(DataSetInfo.of(*made_of), lambda: programs, store.cache / "questions")

    return source


DATASETS: Final = {
    dataset.name: dataset
    for dataset in (
        _DataSet("core", "core programs", _core_source, core=True),
        _DataSet(
            "dreval",
            "DREval, its own questions",
            _official_source(dreval_subjects, official.DREVAL_TASKS, official.DREVAL_DATA),
        ),
        _DataSet(
            "humaneval",
            "HumanEval, our questions",
            _official_source(humaneval_subjects, official.HUMANEVAL, official.HUMANEVAL_PLUS),
        ),
        _DataSet(
            "classeval", "ClassEval, our questions", _official_source(classeval_subjects, official.CLASSEVAL)
        ),
        _DataSet(
            "cruxeval", "CRUXEval, our questions", _official_source(cruxeval_subjects, official.CRUXEVAL)
        ),
    )
}
"""By name, as `questions build --dataset` takes it."""


def question_source(dataset: str | UserDataSet, store: DataStore) -> QuestionSource:
    """The questions of one data set: a name of `DATASETS`, or one of suites.yaml.

    Raises:
        KeyError: no data set has this name.
        DataUnavailableError: its data is not here and cannot be fetched.
        UserError: the user's own problems cannot be read.
    """
    if isinstance(dataset, str):
        return DATASETS[dataset].source(store)
    user_problems = dataset.read()
    info = DataSetInfo(dataset.id, USER_VERSION, user_problems.sha256)
    problems = [with_inputs(user_problem.problem) for user_problem in user_problems.problems]
    return QuestionSource(info, lambda: list(map(function_subject, problems)), store.cache / "questions")


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites of questions, and those of predictions.

    Questions are asked greedily in both styles, and as the paper samples: five times at 0.8.

    Args:
        prompts: a folder whose `runtime/<name>.txt` replace our prompts.
    """
    return (
        *(
            _entry(dataset, style, sampled=sampled, prompts=prompts)
            for dataset, sampled, style in product(DATASETS.values(), (False, True), STYLES)
        ),
        *prediction.catalogue(prompts),
    )


def suites_of_user(data: UserDataSet, prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """The suites of questions on a data set of the user's own, built by our constructor."""
    dataset = _DataSet(data.id, data.title, partial(question_source, data), user_data=data)
    return tuple(
        _entry(dataset, style, sampled=sampled, prompts=prompts)
        for sampled, style in product((False, True), STYLES)
    )


def suite_id(dataset: str, style: Style, *, sampled: bool) -> str:
    """`runtime/core`, `runtime/core@cot`, `runtime/core@sampled`, `runtime/core@cot-sampled`."""
    parts = [name for name, there in (("cot", style == "cot"), ("sampled", sampled)) if there]
    return f"runtime/{dataset}" + (f"@{'-'.join(parts)}" if parts else "")


def _entry(dataset: _DataSet, style: Style, *, sampled: bool, prompts: Path | None) -> SuiteEntry:
    full_id = suite_id(dataset.name, style, sampled=sampled)

    def build(store: DataStore) -> RuntimeSuite:
        source = dataset.source(store)
        return _suite(full_id, source.data, source, _AskedAs(style, sampled, prompts))

    entry = _suite_entry(dataset.name, dataset.title, style, sampled=sampled, build=build)
    return replace(entry, core=dataset.core, user_data=dataset.user_data)


def _suite_entry(
    name: str,
    title: str,
    style: Style,
    *,
    sampled: bool,
    build: Callable[[DataStore], RuntimeSuite],
) -> SuiteEntry:
    full_id, plain = suite_id(name, style, sampled=sampled), suite_id(name, "direct", sampled=False)
    thought = " (chain of thought)" if style == "cot" else ""
    return SuiteEntry(
        id=full_id,
        title=f"Runtime behaviour: {title}{thought}" + (", sampled" if sampled else ""),
        discipline="runtime",
        metrics=METRICS,
        record=RuntimeRecord,
        build=build,
        sampling=sampling(style, PAPER_TEMPERATURE if sampled else 0.0),
        most_requests=None,
        quick_tasks=3,
        graded="in part",
        variant_of=None if full_id == plain else plain,
        variant_kind=None if full_id == plain else "style" if not sampled else "sampling",
        default_samples=PAPER_REPEATS if sampled else 1,
    )


@dataclass(frozen=True, slots=True)
class _AskedAs:
    """How a suite asks."""

    style: Style
    sampled: bool
    prompts: Path | None


def _suite(full_id: str, data: DataSetInfo, source: Source, asked_as: _AskedAs) -> RuntimeSuite:
    asker = Asker(load_prompts("runtime", asked_as.prompts), asked_as.style)
    return RuntimeSuite(full_id, data, asker, source, PAPER_TEMPERATURE if asked_as.sampled else 0.0)


def suite_from_file(
    path: Path, style: Style = "direct", *, sampled: bool = False, prompts: Path | None = None
) -> RuntimeSuite:
    """A suite of a question file that somebody built.

    Raises:
        UserError: it is no question file.
    """
    source = FileSource(path)
    questions = source.questions()
    info = DataSetInfo(questions.dataset, questions.version, questions.sha256)
    full_id = suite_id(path.stem, style, sampled=sampled)
    return _suite(full_id, info, source, _AskedAs(style, sampled, prompts))


def entry_of_file(text: str, prompts: Path | None = None) -> SuiteEntry | None:
    """The suite of a question file, `questions.json` or `questions.json@cot`; None of other texts.

    It is called `runtime/questions`, after the file.
    """
    match = _OF_FILE.fullmatch(text)
    if match is None:
        return None
    path, style, sampled = Path(match["file"]), *_SETTINGS[match["setting"] or ""]

    def build(_: DataStore) -> RuntimeSuite:
        return suite_from_file(path, style, sampled=sampled, prompts=prompts)

    return _suite_entry(path.stem, f"questions of {path.name}", style, sampled=sampled, build=build)


def entry_of_results(suite: str) -> SuiteEntry | None:
    """The suite of results whose question file is not here: for reading results, not for running."""
    match = _OF_RESULTS.fullmatch(suite)
    if match is None:
        return None
    style, sampled = _SETTINGS[match["setting"] or ""]

    def build(_: DataStore) -> RuntimeSuite:
        raise UserError(f"the questions of {suite!r} came from a file; name that file at --suites")

    return _suite_entry(match["name"], f"questions of {match['name']}", style, sampled=sampled, build=build)


_SETTINGS: Final[dict[str, tuple[Style, bool]]] = {
    "": ("direct", False),
    "cot": ("cot", False),
    "sampled": ("direct", True),
    "cot-sampled": ("cot", True),
}
_OF_FILE: Final = re.compile(r"(?P<file>.*?[\w.-]+\.json)(@(?P<setting>cot|sampled|cot-sampled))?")
_OF_RESULTS: Final = re.compile(r"runtime/(?P<name>[\w.-]+)(@(?P<setting>cot|sampled|cot-sampled))?")

DISCIPLINE: Final = DisciplineEntry(
    "runtime",
    catalogue,
    partial(load_prompts, "runtime"),
    suites_of_user=suites_of_user,
    suite_of_file=entry_of_file,
    suite_of_results=entry_of_results,
)
