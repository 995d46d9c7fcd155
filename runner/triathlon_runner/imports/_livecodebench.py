"""LiveCodeBench's outputs: pass@1 by its harness's verdicts; the programs' tests are not here."""

from pathlib import Path
from typing import Final, NamedTuple

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import json_lines
from triathlon_runner.imports._units import part, task_name

REPORTED: Final = {
    "livecodebench": "LiveCodeBench: an eval_all file (question_id, code_list or output_list, graded_list)"
}
"""Formats whose verdicts are printed: nothing of them can be graded again."""


class GradedOutputs(NamedTuple):
    """pass@1 of one model by the verdicts of LiveCodeBench's harness; nothing of it was graded here."""

    pass_at_1: float
    """Mean over the questions of the share of programs that passed, in per cent."""
    questions: int
    samples: int
    first_contest: str
    """Day of the oldest contest; empty where the file has none."""
    last_contest: str


def read_livecodebench(path: Path) -> GradedOutputs:
    """Returns pass@1 of a file of LiveCodeBench's harness.

    Its objects have `question_id`, `output_list` or `code_list`, and `graded_list`.
    """
    shares: dict[str, float] = {}
    samples, days = 0, []
    for where, row in json_lines(path):
        question, verdicts = task_name(row.get("question_id")), row.get("graded_list")
        programs = row.get("code_list", row.get("output_list"))
        if question is None or question in shares:
            raise UserError(f"{where}: expected question_id, each once, got {row.get('question_id')!r:.80}")
        if not isinstance(verdicts, list) or {type(verdict) for verdict in verdicts} != {bool}:
            raise UserError(
                f"{where}: expected verdicts (true or false) in graded_list, got {verdicts!r:.80}; outputs"
                " that LiveCodeBench's harness has not graded have no score: run its evaluation first"
            )
        if not isinstance(programs, list) or len(programs) != len(verdicts):
            got = len(programs) if isinstance(programs, list) else None
            raise UserError(
                f"{where}: expected {len(verdicts)} programs in code_list or output_list, as many as"
                f" verdicts, got {got}"
            )
        shares[question] = sum(verdicts) / len(verdicts)
        samples += len(verdicts)
        if row.get("contest_date"):
            days.append(part(row, where, "contest_date")[:10])
    if not shares:
        raise UserError(f"{path}: expected LiveCodeBench's questions with their graded_list, got none")
    mean = 100 * sum(shares.values()) / len(shares)
    return GradedOutputs(mean, len(shares), samples, min(days, default=""), max(days, default=""))
