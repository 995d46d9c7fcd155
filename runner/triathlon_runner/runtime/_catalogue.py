"""The data sets as programs with inputs, and the suites of questions about them.

A data set's programs are `ProgramQuestions` before anything was executed: without statements, or, where the
data set names the lines and variables to ask about, with statements whose truths are still to be filled in.
"""

import ast
import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, Final, get_args

from triathlon_runner.datasets import ClassProblem, DataFile, DataStore, Problem, core, official
from triathlon_runner.datasets.official import DrevalInput, DrevalProgram, cruxeval, dreval, runtime_prompts
from triathlon_runner.datasets.user import USER_VERSION, UserDataSet, with_inputs
from triathlon_runner.errors import UserError
from triathlon_runner.prompts import BUILT_IN, load_prompts
from triathlon_runner.records import PredictionRecord, RuntimeRecord
from triathlon_runner.runtime._construct import QuestionSource
from triathlon_runner.runtime._masked import Masked, mask_test, originals, statements_text
from triathlon_runner.runtime._metrics import METRICS, PREDICTION_METRICS
from triathlon_runner.runtime._outputs import FUNCTION, Side
from triathlon_runner.runtime._questions import (
    PAPER_REPEATS,
    PAPER_TEMPERATURE,
    STYLES,
    Asker,
    InputQuestions,
    ProgramQuestions,
    StatementQuestion,
    Style,
    official_asker,
    read_questions,
    sampling,
)
from triathlon_runner.runtime._suite import PREDICTION_TEMPERATURE, PredictionSuite, RuntimeSuite
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry
from triathlon_runner.syntax import Function, argument_tuple, call_text, is_bare_constant, parse, third_party

_CANDIDATES: Final = 10  # Inputs of a program that are traced to find a few of them with a question


def function_program(problem: Problem) -> ProgramQuestions:
    """A function problem: its reference and its first inputs."""
    return ProgramQuestions(
        task_id=problem.task_id,
        program=problem.reference,
        entry_point=problem.entry_point,
        libraries=tuple(sorted(third_party(problem.reference) | problem.libraries)),
        level=problem.level,
        inputs=tuple(
            InputQuestions(index=index, text=call_text(problem.entry_point, arguments), arguments=arguments)
            for index, arguments in enumerate(problem.inputs[:_CANDIDATES])
        ),
    )


def class_program(problem: ClassProblem) -> ProgramQuestions:
    """A class with unittest tests: the first test of each test class, then the second of each, and so on."""
    turns = zip_longest(
        *([(case, method) for method in _tests(case)] for case in _test_classes(problem.test))
    )
    methods = [pair for turn in turns for pair in turn if pair]
    return ProgramQuestions(
        task_id=problem.task_id,
        program=problem.reference,
        entry_point=problem.class_name,
        test=problem.test,
        libraries=tuple(sorted(third_party(problem.reference, problem.test) | problem.libraries)),
        level=problem.level,
        inputs=tuple(
            _test_input(index, case, method, statements_text(_body(method)), mask_test(_body(method)))
            for index, (case, method) in enumerate(methods[:_CANDIDATES])
        ),
    )


def _test_classes(module: str) -> list[ast.ClassDef]:
    """The classes of a test module that hold test methods."""
    return [node for node in parse(module).body if isinstance(node, ast.ClassDef) and _tests(node)]


def _tests(case: ast.ClassDef) -> list[Function]:
    return [node for node in case.body if isinstance(node, Function) and node.name.startswith("test")]


def _test_input(
    index: int, case: ast.ClassDef, method: Function, text: str, masked: Masked, shown: str = ""
) -> InputQuestions:
    """One test method as an input, with what its set-up does."""
    setup = [
        statements_text(_body(node))
        for node in case.body
        if isinstance(node, Function) and node.name in ("setUpClass", "setUp")
    ]
    return InputQuestions(
        index=index,
        text=text,
        shown=shown,
        setup="\n".join(setup),
        test_class=case.name,
        test_method=method.name,
        masked=masked.text,
        originals=masked.originals,
    )


def _body(method: Function) -> list[ast.stmt]:
    """The statements of a method without its docstring."""
    return method.body[1:] if is_bare_constant(method.body[0]) and len(method.body) > 1 else method.body


def dreval_programs(store: DataStore) -> Sequence[ProgramQuestions]:
    """DREval's programs with the inputs, lines and variables that it chose."""
    return [
        ProgramQuestions(
            task_id=program.task_id,
            program=program.code,
            entry_point=program.entry_point,
            test=program.test or "",
            libraries=tuple(sorted(third_party(program.code, program.test or ""))),
            inputs=tuple(_dreval_input(program, asked) for asked in program.questions),
        )
        for program in dreval(store)
    ]


def _dreval_input(program: DrevalProgram, asked: DrevalInput) -> InputQuestions:
    """A call, or for a class the first test of the test class in the same place.

    What DREval shows of a test counts: for four inputs that is not quite the test's own text.
    """
    index, shown = asked.input_index, program.inputs[asked.input_index]
    if program.test is None:
        questions = InputQuestions(
            index=index,
            text=call_text(program.entry_point, shown),
            arguments=shown,
            masked=asked.output_question,
            originals=(program.outputs[index],),
        )
    else:
        prefix = f"{program.entry_point}Test"
        case = [case for case in _test_classes(program.test) if case.name.startswith(prefix)][index]
        text = statements_text(parse(shown).body)
        masked = Masked(asked.output_question, originals(asked.output_question, text))
        questions = _test_input(index, case, _tests(case)[0], text, masked, shown.rstrip())
    statements = tuple(StatementQuestion(line=line, variable=variable) for line, variable in asked.statements)
    return questions.model_copy(update={"statements": statements})


def cruxeval_programs(store: DataStore) -> Sequence[ProgramQuestions]:
    """CRUXEval's programs, each with its one input."""
    return [
        function_program(Problem(task.task_id, FUNCTION, "", task.program, (argument_tuple(task.input),)))
        for task in cruxeval(store)
    ]


# Data sets by name

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
        problems = [with_inputs(user_problem.problem) for user_problem in user_problems.problems]
        return QuestionSource(info, lambda: map(function_program, problems), cache)
    if dataset == "core":
        hashes = f"{core.sha256('seeds')}{core.sha256('classes')}"
        sha256 = hashlib.sha256(hashes.encode()).hexdigest()
        info = DataSetInfo("core seeds and classes", core.VERSION, sha256)

        def core_programs() -> list[ProgramQuestions]:
            return [*map(function_program, core.problems("seeds")), *map(class_program, core.classes())]

        return QuestionSource(info, core_programs, cache)
    read, files = _READERS[dataset]
    programs = tuple(read(store))  # here, so that missing data is said before anything runs
    return QuestionSource(DataSetInfo.of(*files), lambda: programs, cache)


# Suites

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
_OF_FILE: Final = re.compile(rf"(?P<file>.*?[\w.-]+\.json){_SETTING}")
_OF_RESULTS: Final = re.compile(rf"runtime/(?P<name>[\w.-]+){_SETTING}")


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """All suites of questions, and those of predictions.

    Args:
        prompts: a folder whose `runtime/<name>.txt` replace our prompts.
    """
    questions = [
        _entry(
            name,
            title,
            partial(question_source, name),
            prompts,
            setting,
            is_official=name == "dreval",
            core=name == "core",
        )
        for name, title in DATASETS.items()
        for setting in (_OF_DREVAL if name == "dreval" else _SETTINGS)
    ]
    predictions = [_prediction(side, style, prompts) for side, style in product(get_args(Side), STYLES)]
    return (*questions, *predictions)


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
    is_official: bool = False,
    **more: Any,
) -> SuiteEntry:
    """The suite of a data set in one setting: `runtime/core`, `runtime/core@cot-sampled`."""
    suite_id = f"runtime/{data_set}@{name}" if name else f"runtime/{data_set}"
    parts = name.replace("-sampled", "+sampled").split("+")
    style: Style = "cot" if "cot" in parts else "direct"
    is_sampled = "sampled" in parts or (is_official and "greedy" not in parts)
    temperature = PAPER_TEMPERATURE if is_sampled else 0.0

    def build(store: DataStore) -> RuntimeSuite:
        templates = load_prompts("runtime", prompts)
        asker = Asker(templates, style)
        # A user's own prompts go before both.
        if is_official and "own-prompts" not in parts and templates.name == BUILT_IN:
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
    """
    match = _OF_FILE.fullmatch(text)
    if match is None:
        return None
    path = Path(match["file"])

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
        raise UserError(f"the questions of {suite!r} came from a file; name that file at --suites")

    return _entry(match["name"], f"questions of {match['name']}", source, None, match["setting"] or "")


def _prediction(side: Side, style: Style, prompts: Path | None) -> SuiteEntry:
    """A side of CRUXEval, asked directly or with a chain of thought; nothing is read for this."""
    plain, is_cot = f"runtime/cruxeval-{side}", style == "cot"
    suite_id = f"{plain}@cot" if is_cot else plain

    def build(store: DataStore) -> PredictionSuite:
        tasks = {task.task_id: task for task in cruxeval(store)}
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
