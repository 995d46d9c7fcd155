"""Official benchmark data, read from its released files, pinned in `official.csv`. None of it ships with us.

Every function that takes a `DataStore` raises a `DataUnavailableError` where a file is not there and cannot
be fetched.
"""

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Final, Literal, TypeVar, get_args

import yaml
from pydantic import BeforeValidator, Field, TypeAdapter

from triathlon_runner.datasets._problem import ClassProblem, Problem, TestedProblem
from triathlon_runner.datasets._store import DataFile, DataStore
from triathlon_runner.datasets.rows import (
    EVOEVAL_SETS,
    TYPED,
    EvoEvalSet,
    Row,
    class_problem,
    evoeval_problem,
    humaneval_problem,
    mbpp_problem,
    pro_problem,
)
from triathlon_runner.syntax import import_statements, third_party

T = TypeVar("T")
MbxpLanguage = Literal["python", "php", "ruby", "javascript", "perl"]
MBXP_LANGUAGES: Final[tuple[MbxpLanguage, ...]] = get_args(MbxpLanguage)
_TABLE: Final = (files("triathlon_runner.datasets") / "official.csv").read_text("utf-8").splitlines()

FILES: Final = {row["name"]: DataFile(**row) for row in csv.DictReader(_TABLE)}
"""Each line of the table by its name: where a file is released, its SHA-256, its licence."""
HUMANEVAL: Final = FILES["HumanEval.jsonl.gz"]
HUMANEVAL_PLUS: Final = FILES["HumanEvalPlus.jsonl.gz"]
"""The tag v0.1.10 points at an older commit; its release asset is the file at the commit in the address."""
MBPP_PLUS: Final = FILES["MbppPlus.jsonl.gz"]
DREVAL_DATA: Final = FILES["DREval_data.jsonl"]
DREVAL_TASKS: Final = FILES["DREval_tasks.jsonl"]
CLASSEVAL: Final = FILES["ClassEval_data.json"]
CRUXEVAL: Final = FILES["cruxeval.jsonl"]
HUMANEVAL_PRO: Final = FILES["humaneval_pro.json"]
MBPP_PRO: Final = FILES["mbpp_pro.json"]
EVOEVAL: Final = {name: FILES[f"EvoEval_{name}.jsonl.gz"] for name in EVOEVAL_SETS}
MBXP: Final[dict[MbxpLanguage, DataFile]] = {
    "python": FILES["mbpp_release_v1.jsonl"],
    "php": FILES["mbphp_release_v1.2.jsonl"],
    "ruby": FILES["mbrbp_release_v1.2.jsonl"],
    "javascript": FILES["mbjsp_release_v1.2.jsonl"],
    "perl": FILES["mbplp_release_v1.jsonl"],
}
PROMPT_FILES: Final = {
    discipline: tuple(file for name, file in FILES.items() if name.startswith(f"prompts/{paper}/"))
    for discipline, paper in (("loop", "evaloop"), ("runtime", "reval"))
}
"""The authors' own prompts by discipline: files of their repositories; none ships with us."""


def loop_prompts(store: DataStore) -> dict[str, str]:
    """EVALOOOP's prompts under the names of ours: `generate`, `summary`, and `similarity` for the judge."""
    both_steps, judge = PROMPT_FILES["loop"]
    generation, summary = yaml.safe_load(store.read(both_steps))["tasks"]
    return {
        "generate": generation["prompt_template"],
        "summary": summary["prompt_template"],
        "similarity": store.read(judge).decode(),
    }


def runtime_prompts(store: DataStore, style: Literal["direct", "cot"]) -> dict[str, str]:
    """REval's prompts by kind of question: the whole text that a model is asked."""
    kinds = ("coverage", "path", "state", "output")
    return {kind: store.read(FILES[f"prompts/reval/{style}_{kind}.txt"]).decode() for kind in kinds}


@dataclass(frozen=True, slots=True)
class MbxpRow:
    """One MBXP problem in one language; `number` is the MBPP task number that joins the languages."""

    number: int
    prompt: str
    """Opens the function: a program is the prompt followed by the body."""
    entry_point: str
    canonical_solution: str | None
    """The function's body; the release has none for many tasks outside Python."""
    test: str
    """Program text that raises where a test fails. Python: defines `check(candidate)`, to be called."""


@dataclass(frozen=True, slots=True)
class DrevalInput:
    """The questions about one input of a DREval program."""

    input_index: Annotated[int, Field(validation_alias="input_idx")]
    statements: Annotated[
        tuple[tuple[int, str], ...],
        Field(validation_alias="task"),
        BeforeValidator(lambda rows: [(row["lineno"], row["var"]) for row in rows]),
    ]
    """(1-based line, variable)."""
    output_question: Annotated[str, Field(validation_alias="output_pred")]
    """The test with its expected sides masked by `??`."""


@dataclass(frozen=True, slots=True)
class DrevalProgram:
    """One DREval program: the first 85 stem from HumanEval (functions), the other 69 from ClassEval."""

    task_id: str
    entry_point: str
    """The function, or the class under test."""
    code: str
    inputs: tuple[str, ...]
    """Source of an argument tuple; for a class the body of a test, assertions without `self.`."""
    outputs: tuple[str, ...]
    """Source of the value for each input; empty for classes."""
    test: str | None
    """A class's unittest module."""
    questions: tuple[DrevalInput, ...]


@dataclass(frozen=True, slots=True)
class CruxevalTask:
    """A program that defines a function `f`, one input and what `f` returns for it."""

    task_id: Annotated[str, Field(validation_alias="id")]
    """`sample_0`, as the data set and its recorded answers have it."""
    program: Annotated[str, Field(validation_alias="code")]
    input: str
    """Source of the arguments, as they stand between the parentheses of a call."""
    output: str
    """Source of the value."""


def read_rows(store: DataStore, file: DataFile) -> list[Row]:
    """The rows of a JSONL file, or of a file that is one JSON array."""
    text = store.read(file).decode()
    if file.name.endswith(".json"):
        return list(json.loads(text))
    # `splitlines` would also cut at the line separators that stand inside JSON strings.
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def _parsed(rows: Iterable[Row], schema: type[T]) -> tuple[T, ...]:
    """Returns each row as one of ours; fields that ours does not have are left out."""
    return tuple(map(TypeAdapter(schema).validate_python, rows))


def mbxp(store: DataStore, language: MbxpLanguage) -> tuple[MbxpRow, ...]:
    """MBXP in one language: 974 problems in Python, 966 in the others."""
    rows = read_rows(store, MBXP[language])
    return _parsed((row | {"number": row["task_id"].rpartition("/")[2]} for row in rows), MbxpRow)


def dreval(store: DataStore) -> tuple[DrevalProgram, ...]:
    """DREval's 154 programs with the lines and variables that its questions are about."""
    tasks: dict[int, list[Row]] = {row["idx"]: row["tasks"] for row in read_rows(store, DREVAL_TASKS)}
    rows = enumerate(read_rows(store, DREVAL_DATA))
    return _parsed((row | {"questions": tasks[index]} for index, row in rows), DrevalProgram)


def classeval(store: DataStore) -> tuple[ClassProblem, ...]:
    """ClassEval's 100 classes."""
    return tuple(map(class_problem, read_rows(store, CLASSEVAL)))


def cruxeval(store: DataStore) -> tuple[CruxevalTask, ...]:
    """CRUXEval's 800 programs."""
    return _parsed(read_rows(store, CRUXEVAL), CruxevalTask)


def humaneval(store: DataStore) -> tuple[Problem, ...]:
    """HumanEval's 164 problems with their base inputs, in EvalPlus' form, which EvoEval's board uses."""
    return tuple(humaneval_problem({**row, "plus_input": []}) for row in read_rows(store, HUMANEVAL_PLUS))


@lru_cache(maxsize=1)  # the variants of a suite share one copy of its problems
def humaneval_plus(store: DataStore) -> tuple[Problem, ...]:
    """HumanEval+ v0.1.10: 164 problems, 1,570 base and 122,683 additional inputs."""
    return tuple(map(humaneval_problem, read_rows(store, HUMANEVAL_PLUS)))


def humaneval_original(store: DataStore) -> tuple[Problem, ...]:
    """HumanEval with the solutions of its own release, on its base inputs in EvalPlus' form.

    EvalPlus wrote other solutions. DREval was made of these: 83 of its 85 functions are among them to the
    last statement, 2 are among EvalPlus'.
    """
    rows = {row["task_id"]: row for row in read_rows(store, HUMANEVAL)}
    problems = []
    for problem in humaneval(store):
        prompt, solution = rows[problem.task_id]["prompt"], rows[problem.task_id]["canonical_solution"]
        reference = f"{prompt}{solution}"
        libraries = third_party(reference)
        problems.append(replace(problem, prompt=prompt, reference=reference, libraries=libraries))
    return tuple(problems)


@lru_cache(maxsize=1)  # as `humaneval_plus`
def mbpp_plus(store: DataStore) -> tuple[Problem, ...]:
    """MBPP+ v0.2.0: 378 problems, 1,174 base and 39,841 additional inputs."""
    return tuple(map(mbpp_problem, read_rows(store, MBPP_PLUS)))


def evoeval(store: DataStore, name: EvoEvalSet) -> tuple[Problem, ...]:
    """One EvoEval set: 100 problems, verbose and concise 164. `EvoEval/N` is unique only within a set."""
    rows = read_rows(store, EVOEVAL[name])
    if name in ("verbose", "concise"):
        return tuple(graded_typed(humaneval_problem(row, parents=(row["task_id"],))) for row in rows)
    return tuple(evoeval_problem(row, name) for row in rows)


def evoeval_main_only(store: DataStore) -> tuple[Problem, ...]:
    """The tool_use problems without their helper functions but with their imports, which signatures name."""
    problems = []
    for row in read_rows(store, EVOEVAL["tool_use"]):
        imports = "".join(f"{line}\n" for line in import_statements(row["helpers"]))
        prompt = f"{imports}\n\n{row['main']}" if imports else row["main"]
        problems.append(replace(evoeval_problem(row, "tool_use"), prompt=prompt))
    return tuple(problems)


def graded_typed(problem: Problem) -> Problem:
    """The problem with EvoEval's comparison in place of EvalPlus'; its board grades HumanEval so too."""
    return replace(problem, comparison=TYPED) if problem.comparison.oracle == "close" else problem


def humaneval_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """HumanEval Pro's 164 problems; the parent of number n is `HumanEval/n`."""
    rows = read_rows(store, HUMANEVAL_PRO)
    return tuple(pro_problem(row, "HumanEvalPro", f"HumanEval/{row['id']}") for row in rows)


def mbpp_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """MBPP Pro's 378 problems; the parent of number n is the n-th problem of MBPP+ v0.2.0, counted from 0."""
    parents = [row["task_id"] for row in read_rows(store, MBPP_PLUS)]
    rows = read_rows(store, MBPP_PRO)
    return tuple(pro_problem(row, "MbppPro", parents[row["id"]]) for row in rows)
