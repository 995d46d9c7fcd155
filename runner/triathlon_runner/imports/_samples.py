"""Formats of one JSON object a sample: EvalPlus, EvoEval, lm-evaluation-harness."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignProgram, json_lines, task_name, text_of


def read_evalplus(path: Path) -> Iterator[Foreign]:
    """`task_id` with `solution`, a whole program, or `completion` of the prompt. EvoEval writes the same.

    A row may name its data set (`subset`) and the authors' verdicts (`published` with `base_status` and
    `plus_status`, of which `pass` is one that passed). EvalPlus' `plus_status` is about added inputs alone:
    all inputs are passed where both say so.

    Raises:
        UserError: a line of another shape.
    """
    for number, row in enumerate(json_lines(path), start=1):
        where = f"{path}, sample {number}"
        task_id, completes = text_of(row, "task_id", where), "solution" not in row and "completion" in row
        program = text_of(row, "completion" if completes else "solution", where)
        base, plus = _passed(row, "base_status"), _passed(row, "plus_status")
        yield ForeignProgram(
            task_id,
            program,
            completes=completes,
            subset=text_of(row, "subset", where) if "subset" in row else "",
            base_passed=base,
            plus_passed=None if plus is None else plus and base is not False,
        )


def _passed(row: dict[str, Any], name: str) -> bool | None:
    """Returns the authors' verdict; None where the row has none."""
    published = row.get("published")
    status = published.get(name) if isinstance(published, dict) else None
    return None if status is None else status == "pass"


def read_lm_eval(path: Path) -> Iterator[Foreign]:
    """`doc` is the data set's row; `filtered_resps` the programs that were tested, one a repeat.

    Raises:
        UserError: a line of another shape.
    """
    for number, row in enumerate(json_lines(path), start=1):
        where = f"{path}, sample {number}"
        doc = row.get("doc")
        task_id = task_name(doc.get("task_id")) if isinstance(doc, dict) else None
        if not isinstance(doc, dict) or task_id is None:
            raise UserError(f"{where}: expected doc.task_id as humaneval or mbpp has it, got {doc!r:.80}")
        for program in _programs(row.get("filtered_resps"), where):
            yield ForeignProgram(task_id, program, str(doc.get("prompt", doc.get("text", ""))))


def _programs(filtered: Any, where: str) -> list[str]:
    """Returns the programs of a row: the harness writes a list of them, or that list in another list."""
    nested = isinstance(filtered, list) and filtered and isinstance(filtered[0], list)
    programs = filtered[0] if nested else filtered
    if not isinstance(programs, list) or not all(isinstance(program, str) for program in programs):
        raise UserError(f"{where}: expected programs in filtered_resps, got {filtered!r:.80}")
    return programs
