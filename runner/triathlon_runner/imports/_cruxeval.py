"""CRUXEval's answers by task.

Graded, a file `<model>[+cot]_temp0.2_<output|input>.json`; as they were made, `generations.json`.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignReply, as_object, whole

_NAME: Final = re.compile(r"(?P<model>.+?)(?P<cot>\+cot)?_temp[\d.]+_(?P<side>output|input)\.json(?:\.gz)?")


def cruxeval_name(log: Path) -> tuple[str, str] | None:
    """Returns model and suite that a file's name stands for; None where it is called otherwise."""
    match = _NAME.fullmatch(log.name)
    if match is None:
        return None
    return match["model"].lower(), f"runtime/cruxeval-{match['side']}" + ("@cot" if match["cot"] else "")


def read_cruxeval(path: Path) -> Iterator[Foreign]:
    """Every answer with the authors' verdict, where there is one; those of one task in the order of the file.

    Raises:
        UserError: the file has another shape.
    """
    content = as_object(whole(path), str(path))
    answers, scored = content.get("raw_generations", content), content.get("raw_scored_generations", {})
    if not isinstance(answers, dict) or not isinstance(scored, dict):
        raise UserError(
            f"{path}: expected objects in 'raw_generations' and 'raw_scored_generations',"
            f" got {answers!r:.80} and {scored!r:.80}"
        )
    name = cruxeval_name(path)
    for task_id, texts in answers.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{path}, {task_id}: expected a list of answers, got {texts!r:.80}")
        verdicts = _verdicts(scored.get(task_id), texts, asks_input="input" in name[1] if name else None)
        for text, passed in zip(texts, verdicts, strict=True):
            # What stood before the answer is not in the file: it is one, whatever the style.
            yield ForeignReply(task_id, f"[ANSWER]\n{text}\n[/ANSWER]", passed=passed)


def _verdicts(scored: Any, texts: Sequence[str], *, asks_input: bool | None) -> list[bool | None]:
    """The authors' verdicts of one task's answers; None for each where the file does not tell.

    CRUXEval's harness does not execute an answer about an input without `f(`, nor one about an output that
    holds the question's own call: it counts them as failed (evaluation/utils_general.py, evaluate_score). An
    earlier version, which made three of its files, left them out of the list where another answer to the task
    passed. Of outputs, those left out are among the answers with `f(`, and are known where there are as many
    of these as places are missing.
    """
    nothing: list[bool | None] = [None] * len(texts)
    if not isinstance(scored, list) or not all(isinstance(one, bool) for one in scored):
        return nothing
    if len(scored) == len(texts):
        return list(scored)
    passed_over = [("f(" in text) != asks_input for text in texts]
    if asks_input is None or sum(passed_over) != len(texts) - len(scored):
        return nothing
    rest = iter(scored)
    return [False if left_out else next(rest) for left_out in passed_over]
