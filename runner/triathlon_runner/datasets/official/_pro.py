"""HumanEval Pro and MBPP Pro: problems whose solution calls the solution of a known base problem."""

from triathlon_runner.datasets import DataStore, TestedProblem
from triathlon_runner.datasets.official._assertions import tested_function
from triathlon_runner.datasets.official._catalogue import HUMANEVAL_PRO, MBPP_PLUS, MBPP_PRO
from triathlon_runner.datasets.official._raw import Row, read_rows


def humaneval_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """HumanEval Pro's 164 problems; the parent of number n is `HumanEval/n`."""
    rows = read_rows(store, HUMANEVAL_PRO)
    return tuple(_problem(row, "HumanEvalPro", f"HumanEval/{row['id']}") for row in rows)


def mbpp_pro(store: DataStore) -> tuple[TestedProblem, ...]:
    """MBPP Pro's 378 problems; the parent of number n is the n-th problem of MBPP+ v0.2.0, counted from 0."""
    parents = [row["task_id"] for row in read_rows(store, MBPP_PLUS)]
    rows = read_rows(store, MBPP_PRO)
    return tuple(_problem(row, "MbppPro", parents[row["id"]]) for row in rows)


def _problem(row: Row, data_set: str, parent: str) -> TestedProblem:
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
