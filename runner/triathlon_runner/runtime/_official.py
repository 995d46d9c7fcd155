"""The official data sets as subjects: DREval with its own questions, HumanEval and ClassEval without."""

from collections.abc import Sequence
from dataclasses import replace

from triathlon_runner.datasets import ClassProblem, DataStore, Problem
from triathlon_runner.datasets.official import (
    DrevalInput,
    DrevalProgram,
    classeval,
    cruxeval,
    dreval,
    humaneval_original,
)
from triathlon_runner.runtime._assertions import Masked, originals
from triathlon_runner.runtime._programs import (
    Candidate,
    Subject,
    case_candidate,
    cases_of,
    class_subject,
    first_test,
    function_subject,
)
from triathlon_runner.runtime._trace import FunctionRun
from triathlon_runner.runtime.prediction import argument_tuple
from triathlon_runner.syntax import call_text, parse, third_party


def dreval_subjects(store: DataStore) -> Sequence[Subject]:
    """DREval's programs with the inputs, lines and variables that it chose.

    Raises:
        DataUnavailableError: a data file is not here and cannot be fetched.
    """
    return [_dreval_subject(program) for program in dreval(store)]


def _dreval_subject(program: DrevalProgram) -> Subject:
    candidate = _dreval_call if program.test is None else _dreval_test
    return Subject(
        task_id=program.task_id,
        program=program.code,
        entry_point=program.entry_point,
        candidates=tuple(candidate(program, asked) for asked in program.questions),
        test=program.test or "",
        libraries=third_party(program.code, program.test or ""),
        pairs={asked.input_index: asked.statements for asked in program.questions},
    )


def _dreval_call(program: DrevalProgram, asked: DrevalInput) -> Candidate:
    arguments = program.inputs[asked.input_index]
    return Candidate(
        index=asked.input_index,
        run=FunctionRun(program.entry_point, arguments),
        text=call_text(program.entry_point, arguments),
        masked=Masked(asked.output_question, (program.outputs[asked.input_index],)),
    )


def _dreval_test(program: DrevalProgram, asked: DrevalInput) -> Candidate:
    """An input of a class is the first test of the test class in the same place.

    What DREval shows of it counts: for four inputs that is not quite the text of the test.
    """
    module = program.test or ""
    cases = [case for case in cases_of(parse(module)) if case.name.startswith(f"{program.entry_point}Test")]
    case = cases[asked.input_index]
    shown = parse(program.inputs[asked.input_index]).body
    candidate = case_candidate(asked.input_index, module, case, first_test(case), shown)
    masked = Masked(asked.output_question, originals(asked.output_question, candidate.text))
    return replace(candidate, masked=masked)


def humaneval_subjects(store: DataStore) -> Sequence[Subject]:
    """HumanEval's own solutions, asked about on their base inputs.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    return [function_subject(problem) for problem in humaneval_original(store)]


def classeval_subjects(store: DataStore) -> Sequence[Subject]:
    """ClassEval's classes with their unittest modules.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    return [
        class_subject(
            ClassProblem(
                task_id=row.task_id,
                class_name=row.class_name,
                reference="\n".join((*row.import_statements, row.solution_code)),
                test=row.test,
            )
        )
        for row in classeval(store)
    ]


def cruxeval_subjects(store: DataStore) -> Sequence[Subject]:
    """CRUXEval's programs, each with its one input.

    Raises:
        DataUnavailableError: the data file is not here and cannot be fetched.
    """
    return [
        function_subject(
            Problem(
                task_id=row.task_id,
                entry_point="f",
                prompt="",
                reference=row.code,
                inputs=(argument_tuple(row.input),),
            )
        )
        for row in cruxeval(store)
    ]
