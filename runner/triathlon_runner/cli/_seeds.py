"""The problems that `triathlon evolve` starts from."""

from collections.abc import Sequence

from triathlon_runner.cli._executor import open_local_grader
from triathlon_runner.datasets import DataStore, FunctionProblem, Problem
from triathlon_runner.datasets.user import with_inputs
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.evolve import parameter_types
from triathlon_runner.schedule import check_references
from triathlon_runner.suites import Programs, SuiteEntry


async def read_seeds(entry: SuiteEntry, store: DataStore) -> tuple[Sequence[Problem], list[str]]:
    """Returns the functions of a suite, and a line for each of a user's own problems that is no seed.

    Raises:
        UserError: its tasks are no functions, or are graded by assertions alone; none of a user's own
            problems can be evolved, or a reference of theirs fails its tests.
    """
    suite = entry.build(store)
    if not isinstance(suite, Programs):
        raise UserError(
            f"the tasks of {entry.id!r} are no functions to evolve; name an evolved suite at --seeds"
        )
    functions = suite.functions()
    if entry.user_data is not None:
        async with open_local_grader() as grader:
            await check_references(entry.user_data.read(), grader, store.cache / "references")
        return _seeds_of_user(entry.id, functions)
    problems = [problem for problem in functions if isinstance(problem, Problem)]
    if len(problems) < len(functions):
        raise UserError(
            f"the problems of {entry.id!r} are graded by assertions, and evolving needs inputs to run the"
            " reference on; name another suite at --seeds, such as evolved/humaneval"
        )
    return problems, []


def _seeds_of_user(suite_id: str, functions: Sequence[FunctionProblem]) -> tuple[list[Problem], list[str]]:
    """Returns the seeds, and why others are none. Inputs come from the file or from calls in its tests."""
    seeds, left_out = [], []
    for function in functions:
        problem = with_inputs(function)
        if why := _why_no_seed(problem):
            left_out.append(f"left out: {problem.task_id}: {why}")
        else:
            seeds.append(problem)
    if not seeds:
        raise UserError(
            "\n".join([f"expected problems in {suite_id!r} that can be evolved, got none", *left_out])
        )
    return seeds, left_out


def _why_no_seed(problem: Problem) -> str:
    """Returns why a user's problem cannot be evolved, with what to do; empty where it can."""
    if not parameter_types(problem):
        return (
            "its prompt has no function with parameters to rewrite; write the problem in the format of"
            " HumanEval or EvalPlus"
        )
    if not problem.inputs:
        return "its tests call it with no plain values to run the reference on; add them as base_input"
    return ""
