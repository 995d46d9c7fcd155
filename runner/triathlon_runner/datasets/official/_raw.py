"""Typed readers of the files that are not sets of function problems, field by field as they are released."""

from dataclasses import dataclass

from triathlon_runner.datasets import DataStore
from triathlon_runner.datasets.official._catalogue import (
    CLASSEVAL,
    CRUXEVAL,
    DREVAL_DATA,
    DREVAL_TASKS,
    HUMANEVAL,
    MBXP,
    MbxpLanguage,
)
from triathlon_runner.datasets.official._rows import Row, read_rows


@dataclass(frozen=True, slots=True)
class HumanEvalRow:
    """One problem of OpenAI's own file; its test is a program that defines `check(candidate)`."""

    task_id: str
    prompt: str
    entry_point: str
    canonical_solution: str
    test: str


@dataclass(frozen=True, slots=True)
class MbxpRow:
    """One MBXP problem in one language; `number` is the MBPP task number that joins the languages."""

    number: int
    task_id: str
    language: MbxpLanguage
    description: str
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

    input_index: int
    statements: tuple[tuple[int, str], ...]
    """(1-based line, variable)."""
    output_question: str
    """The test with its expected sides masked by `??`."""


@dataclass(frozen=True, slots=True)
class DrevalProgram:
    """One DREval program: indices 0 to 84 stem from HumanEval (functions), 85 to 153 from ClassEval."""

    index: int
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
class ClassEvalRow:
    """One ClassEval class with its unittest module."""

    task_id: str
    class_name: str
    import_statements: tuple[str, ...]
    solution_code: str
    test: str


@dataclass(frozen=True, slots=True)
class CruxevalRow:
    """One CRUXEval program: a function `f`, one input and what `f` returns for it."""

    task_id: str
    """`sample_0`, as the data set and its recorded answers have it."""
    code: str
    input: str
    """Source of the arguments, as they stand between the parentheses of a call."""
    output: str
    """Source of the value."""


def humaneval_rows(store: DataStore) -> tuple[HumanEvalRow, ...]:
    """OpenAI's HumanEval file, 164 problems.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    return tuple(HumanEvalRow(**row) for row in read_rows(store, HUMANEVAL))


def mbxp(store: DataStore, language: MbxpLanguage) -> tuple[MbxpRow, ...]:
    """MBXP in one language: 974 problems in Python, 966 in the others.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    return tuple(_mbxp_row(row, language) for row in read_rows(store, MBXP[language]))


def _mbxp_row(row: Row, language: MbxpLanguage) -> MbxpRow:
    return MbxpRow(
        number=int(row["task_id"].rpartition("/")[2]),
        task_id=row["task_id"],
        language=language,
        description=row["description"],
        prompt=row["prompt"],
        entry_point=row["entry_point"],
        canonical_solution=row["canonical_solution"],
        test=row["test"],
    )


def dreval(store: DataStore) -> tuple[DrevalProgram, ...]:
    """DREval's 154 programs with the lines and variables that its questions are about.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    tasks = {row["idx"]: row["tasks"] for row in read_rows(store, DREVAL_TASKS)}
    return tuple(
        DrevalProgram(
            index=index,
            task_id=row["task_id"],
            entry_point=row["entry_point"],
            code=row["code"],
            inputs=tuple(row["inputs"]),
            outputs=tuple(row["outputs"]),
            test=row["test"],
            questions=tuple(_dreval_input(task) for task in tasks[index]),
        )
        for index, row in enumerate(read_rows(store, DREVAL_DATA))
    )


def _dreval_input(task: Row) -> DrevalInput:
    return DrevalInput(
        input_index=task["input_idx"],
        statements=tuple((item["lineno"], item["var"]) for item in task["task"]),
        output_question=task["output_pred"],
    )


def classeval(store: DataStore) -> tuple[ClassEvalRow, ...]:
    """ClassEval's 100 classes.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    return tuple(
        ClassEvalRow(
            task_id=row["task_id"],
            class_name=row["class_name"],
            import_statements=tuple(row["import_statement"]),
            solution_code=row["solution_code"],
            test=row["test"],
        )
        for row in read_rows(store, CLASSEVAL)
    )


def cruxeval(store: DataStore) -> tuple[CruxevalRow, ...]:
    """CRUXEval's 800 programs.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    rows = read_rows(store, CRUXEVAL)
    return tuple(CruxevalRow(row["id"], row["code"], row["input"], row["output"]) for row in rows)
