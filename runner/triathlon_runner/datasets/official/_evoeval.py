"""Sets evolved from others: the seven of EvoEval v0.1.0, HumanEval Pro and MBPP Pro."""

from dataclasses import replace
from typing import Final

from triathlon_runner.datasets import Comparison, DataStore, Problem, TestedProblem
from triathlon_runner.datasets.official._assertions import tested_function
from triathlon_runner.datasets.official._catalogue import (
    EVOEVAL,
    HUMANEVAL_PRO,
    MBPP_PLUS,
    MBPP_PRO,
    EvoEvalSet,
)
from triathlon_runner.datasets.official._evalplus import FLOAT_TOLERANCE, humaneval_problem
from triathlon_runner.datasets.official._raw import Row, read_rows
from triathlon_runner.syntax import import_statements, third_party

_CHECKED: Final[dict[EvoEvalSet, frozenset[int]]] = {
    "difficult": frozenset({10, 32}),
    "creative": frozenset({26, 30, 69}),
    "subtle": frozenset({32}),
}
"""Problems with more than one right answer; the set's own check of each stands among the named oracles."""


def evoeval(store: DataStore, name: EvoEvalSet) -> tuple[Problem, ...]:
    """One EvoEval set: 100 problems, verbose and concise 164. `EvoEval/N` is unique only within a set."""
    rows = read_rows(store, EVOEVAL[name])
    if name in ("verbose", "concise"):
        return tuple(graded_typed(humaneval_problem(row, parents=(row["task_id"],))) for row in rows)
    return tuple(evoeval_problem(row, name) for row in rows)


def evoeval_main_only(store: DataStore) -> tuple[Problem, ...]:
    """The tool_use problems without their helper functions but with their imports, which signatures name."""
    rows = read_rows(store, EVOEVAL["tool_use"])
    return tuple(
        replace(evoeval_problem(row, "tool_use"), prompt=_imports(row["helpers"]) + row["main"])
        for row in rows
    )


def evoeval_problem(row: Row, name: EvoEvalSet) -> Problem:
    reference = f"{row['prompt']}\n{row['canonical_solution']}"
    parents = (row["p1"], row["p2"]) if name == "combine" else (row["parent"],)
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=reference,
        inputs=tuple(_tuple_source(arguments) for arguments in row["inputs"]),
        comparison=_comparison(row["task_id"], name),
        libraries=third_party(reference),
        parents=parents,
    )


def evolved_problem(row: Row) -> Problem:
    """A line that `triathlon evolve` wrote: EvoEval's form, with the reference as a whole program."""
    return Problem(
        task_id=row["task_id"],
        entry_point=row["entry_point"],
        prompt=row["prompt"],
        reference=row["reference"],
        inputs=tuple(map(_tuple_source, row["inputs"])),
        comparison=Comparison("typed", tolerance=FLOAT_TOLERANCE),
        libraries=third_party(row["reference"]),
    )


def _comparison(task_id: str, name: EvoEvalSet) -> Comparison:
    number = task_id.rpartition("/")[2]
    if number in map(str, _CHECKED.get(name, ())):
        return Comparison("checker", tolerance=FLOAT_TOLERANCE, checker=f"evoeval-{name}-{number}")
    return Comparison("typed", tolerance=FLOAT_TOLERANCE)


def graded_typed(problem: Problem) -> Problem:
    """The problem with EvoEval's comparison in place of EvalPlus'; its board grades HumanEval so too."""
    if problem.comparison.oracle != "close":
        return problem
    return replace(problem, comparison=Comparison("typed", tolerance=FLOAT_TOLERANCE))


def _tuple_source(arguments: str) -> str:
    """EvoEval writes arguments as they stand in a call, `[1, 2], 'a'`."""
    inside = arguments.strip().rstrip(",")
    return f"({inside},)" if inside else "()"


def _imports(helpers: str) -> str:
    lines = import_statements(helpers)
    return "".join(f"{line}\n" for line in lines) + ("\n\n" if lines else "")


def humaneval_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """HumanEval Pro's 164 problems; the parent of number n is `HumanEval/n`."""
    rows = read_rows(store, HUMANEVAL_PRO)
    return tuple(_pro_problem(row, "HumanEvalPro", f"HumanEval/{row['id']}") for row in rows)


def mbpp_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """MBPP Pro's 378 problems; the parent of number n is the n-th problem of MBPP+ v0.2.0, counted from 0."""
    parents = [row["task_id"] for row in read_rows(store, MBPP_PLUS)]
    rows = read_rows(store, MBPP_PRO)
    return tuple(_pro_problem(row, "MbppPro", parents[row["id"]]) for row in rows)


def _pro_problem(row: Row, data_set: str, parent: str) -> TestedProblem:
    base = f"{row['raw_problem'].rstrip()}\n{row['raw_solution']}"
    reference = f"{base}\n\n{row['new_problem'].rstrip()}\n{row['new_solution']}\n"
    return TestedProblem(
        task_id=f"{data_set}/{row['id']}",
        entry_point=tested_function(reference, row["test_code"]),
        prompt=f"{row['raw_problem'].strip()}\n\n{row['new_problem'].strip()}\n",
        tests=row["test_code"],
        reference=reference,
        parents=(parent,),
    )
