"""LiveCodeBench's outputs: questions with their replies or programs, and its harness's verdicts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import as_object, file_content, json_lines, text_of


@dataclass(frozen=True, slots=True)
class GradedOutputs:
    """pass@1 of one model by the verdicts of LiveCodeBench's harness; nothing of it was graded here."""

    pass_at_1: float
    """Mean over the questions of the share of programs that passed, in per cent."""
    questions: int
    samples: int
    """Programs of all questions."""
    first_contest: str
    """Day of the oldest contest; empty where the file has none."""
    last_contest: str


def read_livecodebench(path: Path) -> GradedOutputs:
    """Returns pass@1 of a file of LiveCodeBench's harness.

    Its objects have `question_id`, `output_list` or `code_list`, and `graded_list`.

    Raises:
        UserError: the file has another shape, a question stands twice, or its own pass@1 is another.
    """
    shares: dict[str, float] = {}
    samples, days = 0, []
    for place, row in enumerate(_rows(path), start=1):
        where = f"{path}, question {place}"
        question, verdicts = _question_id(row, where), _verdicts(row, where)
        if question in shares:
            raise UserError(f"{where}: expected each question_id once, got {question!r} again")
        shares[question] = sum(verdicts) / len(verdicts)
        samples += len(verdicts)
        _check_stated(row.get("pass@1"), shares[question], where)
        if row.get("contest_date"):
            days.append(text_of(row, "contest_date", where)[:10])
    if not shares:
        raise UserError(f"{path}: expected LiveCodeBench's questions with their graded_list, got none")
    mean = 100 * sum(shares.values()) / len(shares)
    return GradedOutputs(mean, len(shares), samples, min(days, default=""), max(days, default=""))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON list, as the harness writes it, or of a file with one a line."""
    text = file_content(path)
    if not text.lstrip().startswith(b"["):
        yield from json_lines(path)
        return
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise UserError(f"{path}: expected JSON, {error}; got {text[:80]!r}") from None
    for place, row in enumerate(rows, start=1):
        yield as_object(json.dumps(row).encode(), f"{path}, question {place}")


def _question_id(row: dict[str, Any], where: str) -> str:
    question_id = row.get("question_id")
    if isinstance(question_id, bool) or not isinstance(question_id, str | int):
        raise UserError(
            f"{where}: expected LiveCodeBench's question_id, got {question_id!r:.80};"
            " is this its eval_all file?"
        )
    return str(question_id)


def _verdicts(row: dict[str, Any], where: str) -> list[bool]:
    verdicts = row.get("graded_list")
    if not isinstance(verdicts, list) or not verdicts or not all(isinstance(v, bool) for v in verdicts):
        raise UserError(
            f"{where}: expected verdicts (true or false) in graded_list, got {verdicts!r:.80}; outputs that"
            " LiveCodeBench's harness has not graded have no score: run its evaluation first"
        )
    programs = row.get("code_list", row.get("output_list"))
    if not isinstance(programs, list) or len(programs) != len(verdicts):
        got = len(programs) if isinstance(programs, list) else repr(programs)[:80]
        raise UserError(
            f"{where}: expected {len(verdicts)} programs in code_list or output_list, as many as verdicts,"
            f" got {got}"
        )
    return verdicts


def _check_stated(stated: Any, share: float, where: str) -> None:
    """Checks the pass@1 that the harness writes beside each question's verdicts."""
    if stated is not None and (not isinstance(stated, int | float) or abs(stated - share) > 1e-6):
        raise UserError(f"{where}: expected pass@1 {share:.6g} by its graded_list, got {stated!r}")
