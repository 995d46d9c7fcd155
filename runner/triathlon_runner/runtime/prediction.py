"""Output and input prediction (CRUXEval): complete an assertion about one call of a small program.

An output is graded as the answer to an output question. Of an input the arguments count: values as there, and
functions (`lambda x: x + 1`), which have no value and are put into the call as their checked source.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final, Literal, get_args

from triathlon_runner.datasets import DataStore, official
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.llm import ModelKind
from triathlon_runner.metrics import pass_at_k_metric
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import PredictionRecord
from triathlon_runner.runtime._asking import STYLES, Asker, Style, sampling
from triathlon_runner.runtime._assertions import Filled, reading
from triathlon_runner.runtime._expressions import (
    METHODS_OF_FUNCTIONS,
    InvalidAnswerError,
    checked_source,
    holds_function,
    stated_value,
)
from triathlon_runner.runtime._grade import TYPOGRAPHIC, Graded, answer_record
from triathlon_runner.runtime._masked import MASK, hole_name
from triathlon_runner.runtime._outputs import grade_output, read_answer
from triathlon_runner.runtime._questions import InputQuestions, ProgramQuestions
from triathlon_runner.sandbox import Sandbox
from triathlon_runner.suites import (
    DataSetInfo,
    SuiteEntry,
    Task,
    UnitRun,
    asked_settings,
    graded_settings,
    request_settings,
)
from triathlon_runner.syntax import argument_tuple, parse_expression, third_party

Asked = Literal["output", "input"]
"""Which side of the assertion is masked."""

_FUNCTION: Final = "f"
"""The function of every CRUXEval program."""
_TEMPERATURE: Final = 0.2
"""CRUXEval, section 3: for pass@1."""
_SAMPLES: Final = 10
_SOURCE: Final = "CRUXEval (Gu et al. 2024), section 3: over 10 samples a task at temperature 0.2"
METRICS: Final = (pass_at_k_metric(1, _SOURCE), pass_at_k_metric(5, _SOURCE))
"""pass@5 is undefined where a task has fewer than 5 samples."""


def masked_assertion(task: CruxevalTask, asked: Asked) -> str:
    """The assertion with `??` in place of what is asked for."""
    if asked == "output":
        return f"assert {_FUNCTION}({task.input}) == {MASK}"
    return f"assert {_FUNCTION}({MASK}) == {task.output}"


def output_question(task: CruxevalTask) -> tuple[ProgramQuestions, InputQuestions]:
    """The program and its masked output as an output question, to be graded as those are."""
    asked = InputQuestions(
        index=0,
        text=f"{_FUNCTION}({task.input})",
        arguments=argument_tuple(task.input),
        masked=masked_assertion(task, "output"),
        originals=(task.output,),
        statements=(),
    )
    program = ProgramQuestions(
        task_id=task.task_id,
        program=task.program,
        entry_point=_FUNCTION,
        libraries=tuple(sorted(third_party(task.program))),
        inputs=(asked,),
    )
    return program, asked


async def grade_prediction(sandbox: Sandbox, task: CruxevalTask, asked: Asked, answer: str) -> Graded:
    """Executes the assertion with what an answer states.

    Raises:
        SandboxError: the sandbox itself failed.
    """
    read = read_answer if asked == "output" else read_arguments
    return await grade_output(sandbox, *output_question(task), answer, read)


def read_arguments(_: ProgramQuestions, question: InputQuestions, answer: str) -> Filled:
    """The assertion with the arguments that an answer states; what it says of the output does not count.

    Raises:
        InvalidAnswerError: the answer states none, or states what is no value.
    """
    values: dict[str, Any] = {}

    def filled(argument: ast.expr) -> ast.expr:
        """The argument as it stands in the call that is executed."""
        if isinstance(argument, ast.Starred):
            return ast.Starred(filled(argument.value), argument.ctx)
        if ast.dump(argument) in own:
            return argument
        name = hole_name(len(values))
        if holds_function(argument):
            values[name] = ("function", checked_source(argument, METHODS_OF_FUNCTIONS))
        else:
            values[name] = stated_value(argument)
        return ast.Name(name, ast.Load())

    with reading(answer):
        call, original = _stated_call(answer), _call_in(question.text)
        assert original is not None
        own = {ast.dump(argument) for argument in (*original.args, *(key.value for key in original.keywords))}
        arguments = [filled(argument) for argument in call.args]
        keywords = [ast.keyword(keyword.arg, filled(keyword.value)) for keyword in call.keywords]
        complete = ast.unparse(ast.Call(call.func, arguments, keywords))
        return Filled(f"assert {complete} == {question.originals[0]}", values)


def _stated_call(answer: str) -> ast.Call:
    """The call with the arguments that the answer states: in `assert f(1) == 2`, `f(1) == 2`, `f(1)` or `1`.

    Raises:
        InvalidAnswerError: the answer states none.
    """
    for text in dict.fromkeys((answer, answer.translate(TYPOGRAPHIC))):
        for part in (text, text.partition("==")[0]):
            call = _call_in(part.strip().removeprefix("assert ")) or _call_in(f"{_FUNCTION}({part}\n)")
            if call is not None:
                return call
    raise InvalidAnswerError(f"the answer is neither a call of {_FUNCTION!r} nor its arguments")


def _call_in(text: str) -> ast.Call | None:
    try:
        expression = parse_expression(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if isinstance(expression, ast.Compare):
        expression = expression.left
    match expression:
        case ast.Call(ast.Name(name)) if name == _FUNCTION:
            return expression
    return None


# The suites


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """CRUXEval's two sides, each asked directly and with a chain of thought; nothing is read for this.

    Args:
        prompts: A user's folder of prompts in place of ours.
    """
    return tuple(_entry(asked, style, prompts) for asked, style in product(get_args(Asked), STYLES))


def _entry(asked: Asked, style: Style, prompts: Path | None) -> SuiteEntry:
    plain, is_cot = f"runtime/cruxeval-{asked}", style == "cot"
    suite_id = f"{plain}@cot" if is_cot else plain

    def build(store: DataStore) -> PredictionSuite:
        tasks = {task.task_id: task for task in official.cruxeval(store)}
        asker = Asker(load_prompts("runtime", prompts), style)
        return PredictionSuite(suite_id, DataSetInfo.of(official.CRUXEVAL), tasks, asked, asker)

    return SuiteEntry(
        id=suite_id,
        title=f"CRUXEval, {asked} prediction" + (" (chain of thought)" if is_cot else ""),
        discipline="runtime",
        metrics=METRICS,
        record=PredictionRecord,
        build=build,
        sampling=sampling(style, _TEMPERATURE),
        quick_tasks=3,
        graded="in part",
        variant_of=plain if is_cot else None,
        variant_kind="style" if is_cot else None,
        default_samples=_SAMPLES,
    )


@dataclass(frozen=True)
class PredictionSuite:
    """Programs with the side of their assertions that is asked for. A unit is one program."""

    id: str
    data: DataSetInfo
    programs: Mapping[str, CruxevalTask]
    asked: Asked
    asker: Asker

    def tasks(self) -> Sequence[Task]:
        return [Task(task_id) for task_id in self.programs]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """The masked side is part of what it asks."""
        style, prompts = self.asker.style, self.asker.digest(f"predict-{self.asked}")
        decoding = sampling(style, _TEMPERATURE)
        return {
            "asked": asked_settings(self.data, decoding, prompts, style=style, predicted=self.asked),
            "graded": graded_settings(self.data),
        }

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return request_settings(kind, sampling(self.asker.style, _TEMPERATURE))

    async def run(self, unit: UnitRun) -> PredictionRecord:
        """Asks for one prediction and grades it.

        Raises:
            InfrastructureError: no reply, or the sandbox failed; the unit stays open.
        """
        task, kind, style = self.programs[unit.task_id], f"predict-{self.asked}", self.asker.style
        masked = masked_assertion(task, self.asked)
        question = self.asker.prompts.render(
            f"{kind}-question", program=task.program.strip("\n"), assertion=masked
        )
        prompt = self.asker.prompt(kind, question, completes=unit.model.kind == "base")
        answer = await unit.model.ask(prompt, sampling(style, _TEMPERATURE), sample=unit.sample)
        prediction = await answer_record(
            answer.reply,
            style,
            partial(grade_prediction, unit.grader.sandbox, task, self.asked),
            question=question,
            expected=(f"assert {_FUNCTION}({task.input}) == {task.output}",),
        )
        return PredictionRecord(
            **unit.record_fields(self.id),
            outcome=prediction.outcome,
            usage=answer.usage,
            seconds=answer.seconds,
            asked=self.asked,
            style=style,
            program=task.program,
            assertion=masked,
            prediction=prediction,
        )
