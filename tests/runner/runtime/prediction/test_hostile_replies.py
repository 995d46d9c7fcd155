"""No reply ends a run: hostile ones as predicted outputs and inputs."""

import pytest

from support import hostile_replies
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import Outcome, Reply
from triathlon_runner.runtime._answer import extract_answer
from triathlon_runner.runtime._assertions import fill, reading_an_answer
from triathlon_runner.runtime._fillings import InvalidAnswerError
from triathlon_runner.runtime.prediction import Asked, grade_prediction
from triathlon_runner.runtime.prediction._grade import as_output_assertion, fill_arguments, output_question
from triathlon_runner.sandbox import open_sandbox

TASK = CruxevalTask("own", "def f(x):\n    return x\n", "7", "7")


def read(answer: str) -> None:
    """Both ways to read an answer, up to what the sandbox would execute."""
    program, question = output_question(TASK)
    try:
        fill_arguments(TASK, answer)
    except InvalidAnswerError as dodge:
        assert str(dodge)
    try:
        with reading_an_answer():
            assertion = as_output_assertion(answer, question.text)
        fill(question.assertion, assertion, program.program)
    except InvalidAnswerError as dodge:
        assert str(dodge)


@pytest.mark.slow
def test_ten_thousand_replies() -> None:
    """Each of the corpus is an assertion that can be tried, or refused with a reason."""
    count, answers = 0, set()
    for text in hostile_replies.replies():
        count += 1
        extracted = extract_answer(Reply(text=text), "direct")
        if isinstance(extracted, str):
            answers.add(extracted)
    assert count >= 10_000
    for answer in answers:
        read(answer)


@pytest.mark.parametrize("asked", ["output", "input"])
@pytest.mark.parametrize(
    "answer", ["0x" + "f" * 4_000, "assert f(0x" + "f" * 4_000 + ") == 7", "assert f(7) == 0x" + "f" * 4_000]
)
async def test_a_number_too_large_to_write_is_wrong(asked: Asked, answer: str) -> None:
    """Python reads it in hexadecimal and does not write it: the model's failure, not ours."""
    async with open_sandbox() as sandbox:
        judged = await grade_prediction(sandbox, TASK, asked, answer)
    assert judged.outcome is Outcome.FAILED
