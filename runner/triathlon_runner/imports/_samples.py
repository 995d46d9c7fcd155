"""Formats of one JSON object a sample: EvalPlus, EvoEval, lm-evaluation-harness."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignProgram, json_lines, text_of


def read_evalplus(path: Path) -> Iterator[Foreign]:
    """`task_id` with `solution`, a whole program, or `completion` of the prompt. EvoEval writes the same.

    Raises:
        UserError: a line of another shape.
    """
    for number, row in enumerate(json_lines(path), start=1):
        where = f"{path}, sample {number}"
        task_id, completes = text_of(row, "task_id", where), "solution" not in row and "completion" in row
        program = text_of(row, "completion" if completes else "solution", where)
        yield ForeignProgram(task_id, program, completes=completes)


def read_lm_eval(path: Path) -> Iterator[Foreign]:
    """`doc` is the data set's row; `filtered_resps` the programs that were tested, one a repeat.

    Raises:
        UserError: a line of another shape.
    """
    for number, row in enumerate(json_lines(path), start=1):
        where = f"{path}, sample {number}"
        doc = row.get("doc")
        if not isinstance(doc, dict) or not isinstance(doc.get("task_id"), str):
            raise UserError(f"{where}: expected doc.task_id as humaneval has it, got {doc!r:.80}")
        for program in _programs(row.get("filtered_resps"), where):
            yield ForeignProgram(doc["task_id"], program, str(doc.get("prompt", "")))


def _programs(filtered: Any, where: str) -> list[str]:
    """Their filter gives a list of programs, or one list of them in a list."""
    nested = isinstance(filtered, list) and filtered and isinstance(filtered[0], list)
    programs = filtered[0] if nested else filtered
    if not isinstance(programs, list) or not all(isinstance(one, str) for one in programs):
        raise UserError(f"{where}: expected programs in filtered_resps, got {filtered!r:.80}")
    return programs
