"""The official sets as problems: counts, kinds of input, comparison rules."""

import ast
import re

import pytest

from support.official_data import official_store
from triathlon_runner.datasets import Comparison, DataStore, Problem, official
from triathlon_runner.datasets.rows import EVOEVAL_SETS, EvoEvalSet

pytestmark = [
    pytest.mark.official,
    # Programs and docstrings of the data sets hold string escapes that the parser remarks on.
    pytest.mark.filterwarnings("ignore:invalid escape sequence"),
]


@pytest.fixture(scope="module")
def store() -> DataStore:
    return official_store()


@pytest.fixture(scope="module")
def mbpp(store: DataStore) -> dict[str, Problem]:
    return {problem.task_id: problem for problem in official.mbpp_plus(store)}


@pytest.fixture(scope="module")
def humaneval(store: DataStore) -> dict[str, Problem]:
    return {problem.task_id: problem for problem in official.humaneval_plus(store)}


def test_counts_of_evalplus(store: DataStore) -> None:
    for read, tasks, base, more in (
        (official.mbpp_plus, 378, 1174, 39841),
        (official.humaneval_plus, 164, 1570, 122683),
        (official.humaneval, 164, 1570, 0),
    ):
        problems = read(store)
        assert (len(problems), sum(problem.base_inputs or 0 for problem in problems)) == (tasks, base)
        assert sum(len(problem.inputs) for problem in problems) == base + more


FIRST_INPUTS = {
    "Mbpp/2": ((3, 4, 5, 6), (5, 7, 4, 10)),
    "Mbpp/63": ([(3, 5), (1, 7), (10, 3), (1, 2)],),
    "Mbpp/106": ([5, 6, 7], (9, 10)),
    "Mbpp/124": (0.0, 1j),
    "Mbpp/252": (1 + 0j,),
    "Mbpp/278": ((1, 5, 7, (4, 6), 10),),
    "Mbpp/259": (((1, 3), (4, 5), (2, 9), (1, 10)), ((6, 7), (3, 9), (1, 1), (7, 3))),
    "Mbpp/580": ((4, 5, (7, 6, (2, 4)), 6, 8),),
}


def test_inputs_keep_their_types(mbpp: dict[str, Problem], humaneval: dict[str, Problem]) -> None:
    """What MBPP+ keeps as JSON lists are the tuples, sets and numbers that it was; so are infinite ones."""
    arguments = {task_id: eval(mbpp[task_id].inputs[0]) for task_id in FIRST_INPUTS}
    assert repr(arguments) == repr(FIRST_INPUTS)
    texts = [text for problem in (*humaneval.values(), *mbpp.values()) for text in problem.inputs]
    infinite = [text for text in texts if "float('inf')" in text]
    assert infinite and all(re.search(r"\binf\b", repr(eval(text))) for text in infinite)


def test_comparison_rules_and_assertions(mbpp: dict[str, Problem], humaneval: dict[str, Problem]) -> None:
    rules = [problem.comparison for problem in mbpp.values()]
    assert sum(rule.oracle == "set" for rule in rules) == 7
    assert sum(rule.oracle == "not-none" for rule in rules) == 3
    assert sum(rule.tolerance == 1e-4 for rule in rules) == 13
    checkers = {rule.checker for rule in rules if rule.oracle == "checker"}
    assert checkers == {"mbpp-287", "mbpp-558", "mbpp-581"}
    assert humaneval["HumanEval/32"].comparison == Comparison("checker", 1e-4, "humaneval-32")
    assert humaneval["HumanEval/0"].comparison == Comparison("close", 1e-6)
    assertion = "assert set(similar_elements((3, 4, 5, 6),(5, 7, 4, 10))) == set((4, 5))"
    assert mbpp["Mbpp/2"].assertion == assertion
    assert all(problem.assertion in problem.prompt for problem in mbpp.values())
    for problem in humaneval.values():
        assert isinstance(ast.parse(problem.assertion).body[0], ast.Assert)
        assert f"{problem.entry_point}(" in problem.assertion


CHECKERS = {
    "difficult": {"evoeval-difficult-10", "evoeval-difficult-32"},
    "creative": {"evoeval-creative-26", "evoeval-creative-30", "evoeval-creative-69"},
    "subtle": {"evoeval-subtle-32"},
    "verbose": {"humaneval-32"},
    "concise": {"humaneval-32"},
}


@pytest.mark.parametrize("name", EVOEVAL_SETS)
def test_evoeval_sets(store: DataStore, name: EvoEvalSet) -> None:
    """Sizes, HumanEval parents, checks of their own; each input is the source of a tuple."""
    problems = official.evoeval(store, name)
    assert len(problems) == (164 if name in ("verbose", "concise") else 100)
    assert {len(problem.parents) for problem in problems} == {2 if name == "combine" else 1}
    assert all(parent.startswith("HumanEval/") for problem in problems for parent in problem.parents)
    assert {problem.comparison.oracle for problem in problems} <= {"typed", "checker"}
    assert {problem.comparison.checker for problem in problems} - {""} == CHECKERS.get(name, set())
    if name not in ("verbose", "concise"):  # those are HumanEval+'s
        texts = [text for problem in problems for text in problem.inputs]
        assert all(isinstance(ast.parse(text, mode="eval").body, ast.Tuple) for text in texts)


def test_main_only_has_no_helpers(store: DataStore) -> None:
    with_helpers = {problem.task_id: problem for problem in official.evoeval(store, "tool_use")}
    for problem in official.evoeval_main_only(store):
        body = ast.parse(problem.prompt).body
        functions = [node.name for node in body if isinstance(node, ast.FunctionDef)]
        assert functions == [problem.entry_point]
        assert problem.reference == with_helpers[problem.task_id].reference
        assert len(problem.prompt) < len(with_helpers[problem.task_id].prompt)


def test_dreval(store: DataStore) -> None:
    """DREval has 85 functions and 69 of ClassEval's 100 classes; its questions stay inside the programs."""
    assert len(official.classeval(store)) == 100
    programs = official.dreval(store)
    assert [sum(program.test is None for program in programs), len(programs)] == [85, 154]
    for program in programs:
        lines = range(1, len(program.code.splitlines()) + 1)
        for question in program.questions:
            assert question.input_index in range(len(program.inputs))
            assert all(line in lines for line, _ in question.statements)


def test_catalogue(store: DataStore) -> None:
    files = official.FILES.values()
    assert len(files) == 31
    assert len({file.name for file in files}) == len({file.sha256 for file in files}) == len(files)
    assert all(store.read(file) for file in files)


def test_humanevals_own_solutions_are_those_of_dreval(store: DataStore) -> None:
    """83 of DREval's 85 functions are HumanEval's own solutions, statement by statement; 2 are EvalPlus'."""

    def statements(program: str, name: str) -> list[str]:
        """The statements of the last function of a name, without its docstring."""
        body = [node for node in ast.parse(program).body if isinstance(node, ast.FunctionDef)]
        function = [node for node in body if node.name == name][-1]
        return [ast.dump(each) for each in function.body[1 if ast.get_docstring(function) else 0 :]]

    own, plus = (
        {problem.entry_point: statements(problem.reference, problem.entry_point) for problem in problems}
        for problems in (official.humaneval_original(store), official.humaneval(store))
    )
    functions = [program for program in official.dreval(store) if program.test is None]
    asked = [(each.entry_point, statements(each.code, each.entry_point)) for each in functions]
    equal = [sum(known[name] == body for name, body in asked) for known in (own, plus)]
    assert (len(asked), equal) == (85, [83, 2])
