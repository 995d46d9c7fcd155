"""Two problems in sequence as one: prompt, reference, inputs."""

import ast

from triathlon_runner.datasets import Comparison, Problem
from triathlon_runner.evolved.problem_pairs import composed

SORT = Problem(
    task_id="s/sort",
    entry_point="sort",
    prompt=(
        "from typing import List\n\n\ndef sort(xs: List[int]) -> List[int]:\n"
        '    """Sort xs.\n\n    >>> sort([2, 1])\n    [1, 2]\n    """\n'
    ),
    reference="def helper(x):\n    return x\ndef sort(xs):\n    return sorted(map(helper, xs))\n",
    inputs=("([2, 1],)", "([],)", "([3],)", "([9, 9, 1],)"),
    base_inputs=3,
    level=2,
    topics=("lists",),
)
FIRST = Problem(
    task_id="s/first",
    entry_point="first",
    prompt='LIMIT = 3\n\n\ndef first(ys):\n    """Return the first of ys, a \\"list\\" (\\\\o/)."""\n',
    reference="def helper(x):\n    return x[0]\ndef first(ys):\n    return helper(ys)\n",
    inputs=("([1],)",),
    comparison=Comparison("close", 1e-6),
    level=3,
)


def test_composed_problem() -> None:
    """It works where both references define helpers of the same name; its prompt has both docstrings.

    Escapes stay intact, and what stands in front of a prompt's function.
    """
    problem = composed(SORT, FIRST, frozenset({1}))
    assert (problem.task_id, problem.parents) == ("s/sort+s/first", ("s/sort", "s/first"))
    assert problem.inputs == ("([2, 1],)", "([3],)")
    assert problem.comparison == FIRST.comparison
    assert (problem.level, problem.topics) == (3, ("lists",))
    namespace: dict[str, object] = {}
    exec(problem.reference, namespace)
    called = namespace["sort_then_first"]
    assert callable(called) and called([5, 2, 8]) == 2
    prompt = problem.prompt
    function = ast.parse(prompt).body[-1]
    assert isinstance(function, ast.FunctionDef)
    assert (function.name, [a.arg for a in function.args.args]) == ("sort_then_first", ["xs"])
    docstring = ast.get_docstring(function) or ""
    assert docstring.index(">>> sort([2, 1])") < docstring.index('Return the first of ys, a "list" (\\o/).')
    assert prompt.startswith("from typing import List\n") and "LIMIT = 3\n" in prompt
