"""The judge: how close are the prompts on both sides of a failure (EVALOOOP, equation 3, listing 2.1)?"""

import math
import re
from collections.abc import Mapping
from typing import Any

from triathlon_runner.concurrency import in_other_process
from triathlon_runner.llm import Model, ModelUnavailableError, Sampling
from triathlon_runner.loop._prompt import MAX_TOKENS, question
from triathlon_runner.prompts import PromptSet
from triathlon_runner.records import Finish, LoopStep, Reply, Usage
from triathlon_runner.replies import final_answer, visible_text

TEMPLATE = "similarity"
_SAMPLING = Sampling(max_tokens=MAX_TOKENS, temperature=0.0)
_ATTEMPTS = 2
_SCORE = re.compile(r"0?\.\d+|1\.0|0|1")


def settings(judge: str, prompts: PromptSet) -> Mapping[str, Any]:
    """Returns the judge's settings, which are part of a suite's."""
    return {"model": judge, "prompt": prompts.digest(TEMPLATE), "max_tokens": MAX_TOKENS, "temperature": 0.0}


async def compare_prompts(
    judge: Model, prompts: PromptSet, last_passed: LoopStep, first_failed: LoopStep
) -> dict[str, Any]:
    """Asks for one number, a second time where the first reply holds none; returns the record's fields.

    The similarity is None where no reply was a usable number: unknown, not 1. A judge that cannot be asked
    any more (its quota is used up, its model or its server is gone) says nothing: the similarity is unknown,
    and the unit is finished all the same.

    Raises:
        EndpointError: no answer to this question, though the judge answers others; the unit stays open.
    """
    text = prompts.render(
        TEMPLATE,
        first_prompt=last_passed.prompt,
        first_program=last_passed.program,
        second_prompt=first_failed.prompt,
        second_program=first_failed.program,
    )
    replies: list[Reply] = []
    usage = Usage()
    number: float | None = None
    while number is None and len(replies) < _ATTEMPTS:
        attempt = len(replies)
        try:
            answer = await judge.ask(question(judge.kind, text, attempt), _SAMPLING, sample=attempt)
        except ModelUnavailableError:  # its `on_lost` reports it
            break
        replies.append(answer.reply)
        usage += answer.usage
        number = await in_other_process(len(answer.reply.text), similarity_in, answer.reply)
    return {"similarity": number, "judge_replies": tuple(replies), "judge_usage": usage}


def similarity_in(reply: Reply) -> float | None:
    """Returns the score in a reply, as EVALOOOP's program reads it; None where there is none.

    A bare number, else the first text that looks like a score; beyond 0 and 1 it is the nearer of them.
    """
    text = final_answer(visible_text(reply.text)).strip()
    if reply.finish is not Finish.STOP or text.startswith("Error"):
        return None
    try:
        score = float(text)
    except ValueError:
        match = _SCORE.search(text)
        score = float(match[0]) if match else math.nan
    return None if math.isnan(score) else min(max(score, 0.0), 1.0)
