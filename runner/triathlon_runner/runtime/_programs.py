"""Data sets as programs with inputs: what questions are built of.

They are `ProgramQuestions` before anything was executed: without statements, or, where the data set names the
lines and variables to ask about, with statements whose truths are still to be filled in. Readers of official
data raise DataUnavailableError where a file is not here and cannot be fetched.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, Literal

from triathlon_runner.datasets import ClassProblem, DataStore, Problem
from triathlon_runner.datasets.official import CruxevalTask, DrevalInput, DrevalProgram, cruxeval, dreval
from triathlon_runner.runtime._masked import (
    MASK,
    SAME,
    Definitions,
    Masked,
    claimed,
    definitions,
    is_value,
    originals,
    without_self,
)
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions, StatementQuestion
from triathlon_runner.syntax import Function, argument_tuple, call_text, parse, parse_expression, third_party

CANDIDATES: Final = 10
"""Inputs of a program that are traced to find a few of them with a question."""
_LOOPS: Final = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def function_program(problem: Problem) -> ProgramQuestions:
    """A function problem: its reference and its first inputs."""
    return ProgramQuestions(
        task_id=problem.task_id,
        program=problem.reference,
        entry_point=problem.entry_point,
        libraries=tuple(sorted(third_party(problem.reference) | problem.libraries)),
        level=problem.level,
        inputs=tuple(
            _call_input(index, call_text(problem.entry_point, arguments), arguments)
            for index, arguments in enumerate(problem.inputs[:CANDIDATES])
        ),
    )


def _call_input(
    index: int, text: str, arguments: str, masked: str = "", originals: tuple[str, ...] = ()
) -> InputQuestions:
    """A call of a function as an input."""
    return InputQuestions(
        index=index, text=text, arguments=arguments, masked=masked, originals=originals, statements=()
    )


def class_program(problem: ClassProblem) -> ProgramQuestions:
    """A class with unittest tests: the first test of each test class, then the second of each, and so on."""
    cases = _test_classes(problem.test)
    turns = zip_longest(*([(case, method) for method in _tests(case)] for case in cases))
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
            for index, (case, method) in enumerate(methods[:CANDIDATES])
        ),
    )


def _test_classes(module: str) -> list[ast.ClassDef]:
    """The classes of a test module that hold test methods."""
    return [node for node in parse(module).body if isinstance(node, ast.ClassDef) and _tests(node)]


def _tests(case: ast.ClassDef) -> list[Function]:
    return [node for node in case.body if isinstance(node, Function) and node.name.startswith("test")]


def _test_input(
    index: int, case: ast.ClassDef, method: Function, text: str, masked: Masked
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
        setup="\n".join(setup),
        test_class=case.name,
        test_method=method.name,
        masked=masked.text,
        originals=masked.originals,
        statements=(),
    )


def _body(method: Function) -> list[ast.stmt]:
    """The statements of a method without its docstring."""
    first = method.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return method.body[1:] if documented and len(method.body) > 1 else method.body


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
        text, outputs = call_text(program.entry_point, shown), (program.outputs[index],)
        questions = _call_input(index, text, shown, asked.output_question, outputs)
    else:
        cases = [
            case for case in _test_classes(program.test) if case.name.startswith(f"{program.entry_point}Test")
        ]
        text = statements_text(parse(shown).body)
        masked = Masked(asked.output_question, originals(asked.output_question, text))
        questions = _test_input(index, cases[index], _tests(cases[index])[0], text, masked)
        questions = questions.model_copy(update={"shown": shown.rstrip()})
    statements = tuple(
        StatementQuestion(line=line, variable=variable, executed=False, states=(), next_lines=())
        for line, variable in asked.statements
    )
    return questions.model_copy(update={"statements": statements})


def cruxeval_programs(store: DataStore) -> Sequence[ProgramQuestions]:
    """CRUXEval's programs, each with its one input."""
    return [
        function_program(Problem(task.task_id, FUNCTION, "", task.program, (argument_tuple(task.input),)))
        for task in cruxeval(store)
    ]


# Predictions on CRUXEval: one call of a small program, of which a side is masked

Side = Literal["output", "input"]
"""Which side of the assertion is masked."""
FUNCTION: Final = "f"
"""The function of every CRUXEval program."""


def masked_assertion(task: CruxevalTask, side: Side) -> str:
    """The assertion with `??` in place of what is asked for."""
    if side == "output":
        return f"assert {FUNCTION}({task.input}) == {MASK}"
    return f"assert {FUNCTION}({MASK}) == {task.output}"


def output_question(task: CruxevalTask) -> tuple[ProgramQuestions, InputQuestions]:
    """The program and its masked output as an output question, to be graded as those are."""
    text, arguments = f"{FUNCTION}({task.input})", argument_tuple(task.input)
    asked = _call_input(0, text, arguments, masked_assertion(task, "output"), (task.output,))
    program = ProgramQuestions(  # not `function_program`: an argument may have a name
        task_id=task.task_id,
        program=task.program,
        entry_point=FUNCTION,
        libraries=tuple(sorted(third_party(task.program))),
        inputs=(asked,),
    )
    return program, asked


# The output question of a test: its assertions with their expected sides masked


def statements_text(statements: list[ast.stmt]) -> str:
    """The body of a test method, its assertions without `self.`."""
    return ast.unparse(_copy(statements))


def mask_test(statements: list[ast.stmt]) -> Masked:
    """A test's body with all its assertions masked, save those in loops; an empty text where it has none."""
    body = _copy(statements)
    originals: list[str] = []
    known = definitions(body.body)
    for statement in _straight(body.body):
        _mask_statement(statement, known, originals)
    return Masked(ast.unparse(body) if originals else "", tuple(originals))


def _copy(statements: list[ast.stmt]) -> ast.Module:
    return without_self(parse(ast.unparse(ast.Module(statements, []))))


def _straight(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements, inner ones too, that are executed once at most."""
    for statement in statements:
        yield statement
        if not isinstance(statement, _LOOPS):
            for field in ("body", "orelse", "finalbody"):
                yield from _straight(getattr(statement, field, []))
            for handler in getattr(statement, "handlers", []):
                yield from _straight(handler.body)


def _mask_statement(statement: ast.stmt, known: Definitions, originals: list[str]) -> None:
    """Puts masks into an assertion, and the source of what they replace into `originals`."""

    def mask(expected: ast.expr) -> ast.expr:
        originals.append(ast.unparse(expected))
        return ast.Name(MASK, ast.Load())

    match statement:
        case ast.Assert(ast.Compare(_, [ast.Eq() | ast.Is()], [right]) as compared):
            if is_value(right, known):
                compared.comparators[0] = mask(right)
        case ast.Assert(test):
            left = parse_expression(f"bool({ast.unparse(test)})")
            statement.test = ast.Compare(left, [ast.Eq()], [mask(ast.Constant(True))])
        case ast.Expr(ast.Call(ast.Name(name), [first, second, *_]) as call) if name in SAME:
            # Where neither side is a value, as both call the program, there is nothing to state.
            if is_value(second, known):
                call.args[1] = mask(second)
            elif is_value(first, known):
                call.args[0] = mask(first)
        case ast.Expr(ast.Call() as call) if claim := claimed(call):
            subject, value = claim
            call.func = ast.Name("assertEqual", ast.Load())
            call.args, call.keywords = [subject, mask(value)], []
