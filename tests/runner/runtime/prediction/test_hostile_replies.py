"""No reply ends a run: hostile ones as predicted outputs and inputs."""

import pytest

from support import hostile_replies
from triathlon_runner.datasets.official import CruxevalTask
from triathlon_runner.records import Outcome, Reply
from triathlon_runner.runtime._answer import extract_answer
from triathlon_runner.runtime._assertions import fill
from triathlon_runner.runtime._claims import MaskedTest
from triathlon_runner.runtime._expressions import InvalidAnswerError
from triathlon_runner.runtime.prediction import Asked, grade_prediction
from triathlon_runner.runtime.prediction._grade import fill_arguments, output_question
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
        fill(MaskedTest(question.assertion, program.program), answer)
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


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("output", "0x" + "f" * 4_000),
        ("output", "assert f(7) == 0x" + "f" * 4_000),
        ("input", "0x" + "f" * 4_000),
        ("input", "assert f(0x" + "f" * 4_000 + ") == 7"),
    ],
)
async def test_a_number_too_large_to_write_is_wrong(asked: Asked, answer: str) -> None:
    """Python reads it in hexadecimal and does not write it: the model's failure, not ours."""
    async with open_sandbox() as sandbox:
        judged = await grade_prediction(sandbox, TASK, asked, answer)
    assert judged.outcome is Outcome.FAILED
