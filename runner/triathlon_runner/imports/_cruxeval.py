"""CRUXEval's answers by task.

Graded, a file `<model>[+cot]_temp0.2_<output|input>.json`; as they were made, `generations.json`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignReply, as_object, file_content

_NAME: Final = re.compile(r"(?P<model>.+?)(?P<cot>\+cot)?_temp[\d.]+_(?P<side>output|input)\.json(?:\.gz)?")


def cruxeval_model_and_suite(log: Path) -> tuple[str, str] | None:
    """Returns the model and suite that a file's name stands for; None for any other name."""
    match = _NAME.fullmatch(log.name)
    if match is None:
        return None
    return match["model"].lower(), f"runtime/cruxeval-{match['side']}" + ("@cot" if match["cot"] else "")


def read_cruxeval(path: Path) -> Iterator[Foreign]:
    """Every answer with the authors' verdict, where there is one; those of one task in the order of the file.

    Raises:
        UserError: the file has another shape.
    """
    content = as_object(file_content(path), str(path))
    answers, scored = content.get("raw_generations", content), content.get("raw_scored_generations", {})
    if not isinstance(answers, dict) or not isinstance(scored, dict):
        raise UserError(
            f"{path}: expected objects in 'raw_generations' and 'raw_scored_generations',"
            f" got {answers!r:.80} and {scored!r:.80}"
        )
    model_and_suite = cruxeval_model_and_suite(path)
    asks_input = "input" in model_and_suite[1] if model_and_suite else None
    for task_id, texts in answers.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{path}, {task_id}: expected a list of answers, got {texts!r:.80}")
        verdicts = _verdicts(scored.get(task_id), texts, asks_input=asks_input)
        for text, passed in zip(texts, verdicts, strict=True):
            # The file has the answers alone, also where the prompt asked for a chain of thought first.
            yield ForeignReply(task_id, f"[ANSWER]\n{text}\n[/ANSWER]", passed=passed)


def _verdicts(scored: Any, texts: Sequence[str], *, asks_input: bool | None) -> list[bool | None]:
    """The authors' verdicts of one task's answers; None for each where the file does not tell.

    CRUXEval's harness does not execute an answer about an input without `f(`, nor one about an output that
    holds the question's own call: it counts them as failed (evaluation/utils_general.py, evaluate_score). An
    earlier version, which made three of its files, left them out of the list where another answer to the task
    passed. Of outputs, those left out are among the answers with `f(`, and are known where there are as many
    of these as places are missing.
    """
    unknown: list[bool | None] = [None] * len(texts)
    if not isinstance(scored, list) or not all(isinstance(verdict, bool) for verdict in scored):
        return unknown
    if len(scored) == len(texts):
        return list(scored)
    not_executed = [("f(" in text) != asks_input for text in texts]
    if asks_input is None or sum(not_executed) != len(texts) - len(scored):
        return unknown
    verdicts = iter(scored)
    return [False if skipped else next(verdicts) for skipped in not_executed]
