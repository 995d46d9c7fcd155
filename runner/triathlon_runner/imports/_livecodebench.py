"""LiveCodeBench's outputs: pass@1 by its harness's verdicts, filed beside the published tables."""

import csv
import hashlib
import io
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import json_lines
from triathlon_runner.imports._units import task_name, text_of
from triathlon_runner.store import replace_file


class GradedOutputs(NamedTuple):
    """pass@1 of one model by the verdicts of LiveCodeBench's harness; nothing of it was graded here."""

    pass_at_1: float
    """Mean over the questions of the share of programs that passed, in per cent."""
    questions: int
    samples: int
    first_contest: str
    """Day of the oldest contest; empty where the file has none."""
    last_contest: str


REPORTED: Final = {
    "livecodebench": "LiveCodeBench: an eval_all file (question_id, code_list or output_list, graded_list)"
}
"""Formats whose verdicts are reported: the programs' tests are not here, so that nothing is graded again."""
_TABLE: Final = "livecodebench"
_COLUMNS: Final = ("model", *GradedOutputs._fields, "file", "sha256", "address", "filed")
_SOURCES: Final = "sources.csv"
_SOURCE: Final = (
    _TABLE,
    "LiveCodeBench",
    "LiveCodeBench: Holistic and Contamination Free Evaluation of Large Language Models for Code",
    "outputs of its harness, as filed by `triathlon import livecodebench`",
)
_NOTE: Final = (
    "pass@1 in per cent by the graded_list of each file: reported, not graded here. Files over different"
    " contests hold different questions."
)
_SHOWN: Final = (
    "pass_at_1|pass@1|100|questions|headline; questions||||unranked; samples||||unranked;"
    " first_contest||||text; last_contest||||text; file||||text; sha256|SHA-256|||text; address||||text"
)
"""The columns, as `sources.csv` lists those that the site shows."""


def read_livecodebench(path: Path) -> GradedOutputs:
    """Returns pass@1 of a file of LiveCodeBench's harness.

    Its objects have `question_id`, `output_list` or `code_list`, and `graded_list`.
    """
    shares: dict[str, float] = {}
    samples, days = 0, []
    for where, row in json_lines(path):
        question, verdicts = task_name(row.get("question_id")), _verdicts(row, where)
        if question is None or question in shares:
            raise UserError(f"{where}: expected question_id, each once, got {row.get('question_id')!r:.80}")
        shares[question] = sum(verdicts) / len(verdicts)
        samples += len(verdicts)
        if row.get("contest_date"):
            days.append(text_of(row, "contest_date", where)[:10])
    if not shares:
        raise UserError(f"{path}: expected LiveCodeBench's questions with their graded_list, got none")
    mean = 100 * sum(shares.values()) / len(shares)
    return GradedOutputs(mean, len(shares), samples, min(days, default=""), max(days, default=""))


def _verdicts(row: dict[str, Any], where: str) -> list[bool]:
    verdicts, programs = row.get("graded_list"), row.get("code_list", row.get("output_list"))
    if not isinstance(verdicts, list) or not verdicts or not all(isinstance(v, bool) for v in verdicts):
        raise UserError(
            f"{where}: expected verdicts (true or false) in graded_list, got {verdicts!r:.80}; outputs that"
            " LiveCodeBench's harness has not graded have no score: run its evaluation first"
        )
    if not isinstance(programs, list) or len(programs) != len(verdicts):
        raise UserError(
            f"{where}: expected {len(verdicts)} programs in code_list or output_list, as many as verdicts,"
            f" got {len(programs) if isinstance(programs, list) else None}"
        )
    return verdicts


def file_livecodebench(
    log: Path, model: str, address: str, published: Path, today: date
) -> tuple[Path, GradedOutputs]:
    """Adds a model's row to `livecodebench.csv` in `published`; returns the table and the row's figures.

    The table's line in the list of sources is written, too.
    """
    table, sources = published / f"{_TABLE}.csv", published / _SOURCES
    if not address.startswith(("https://", "http://")):
        raise UserError(f"expected the web address of the outputs at --address, got {address!r}")
    if not sources.is_file():
        raise UserError(
            f"expected the published tables with their {_SOURCES} in {str(published)!r}, there are none;"
            " run the command in a clone, or name its folder of results at --results"
        )
    outputs = read_livecodebench(log)
    text = table.read_text("utf-8") if table.exists() else _line(_COLUMNS)
    rows = csv.DictReader(io.StringIO(text))
    if tuple(rows.fieldnames or ()) != _COLUMNS:
        raise UserError(f"{table}: expected the columns {','.join(_COLUMNS)}, got {rows.fieldnames}; fix it")
    if any(row["model"] == model for row in rows):
        raise UserError(f"{str(table)!r} has a row of {model!r} already; delete it or use another --model")
    receipt = (log.name, hashlib.sha256(log.read_bytes()).hexdigest(), address, today.isoformat())
    row = _line((model, f"{outputs.pass_at_1:.6g}", *outputs[1:], *receipt))
    replace_file(table, text.rstrip("\n") + "\n" + row)
    lines = sources.read_text("utf-8").splitlines(True)
    lines = [line for line in lines if not line.startswith(f"{_TABLE},")]  # all others stay as they are
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    source = _line((*_SOURCE, today.isoformat(), _NOTE, "baseline", _SHOWN))
    replace_file(sources, "".join([*lines, source]))
    return table, outputs


def _line(cells: Sequence[str | int]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerow(cells)
    return target.getvalue()
