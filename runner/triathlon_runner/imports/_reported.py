"""Figures that others computed, filed beside the published tables with the receipt of their source."""

import csv
import hashlib
import io
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.imports._livecodebench import GradedOutputs, read_livecodebench
from triathlon_runner.store import replace_file

REPORTED: Final = {
    "livecodebench": "LiveCodeBench: an eval_all file (question_id, code_list or output_list, graded_list)",
}
"""Formats whose verdicts are reported: the programs' tests are not here, so that nothing is graded again."""
_TABLE: Final = "livecodebench"
_COLUMNS: Final = (
    "model",
    "pass_at_1",
    "questions",
    "samples",
    "first_contest",
    "last_contest",
    "file",
    "sha256",
    "address",
    "filed",
)
_SOURCES: Final = "sources.csv"
_SOURCE: Final = (
    "LiveCodeBench",
    "LiveCodeBench: Holistic and Contamination Free Evaluation of Large Language Models for Code",
    "outputs of its harness, as filed by `triathlon import livecodebench`",
)
_NOTE: Final = (
    "pass@1 in per cent by the graded_list of each file: reported, not graded here. Files over different"
    " contests hold different questions."
)


def file_livecodebench(
    log: Path, model: str, address: str, published: Path, today: date
) -> tuple[Path, GradedOutputs]:
    """Adds a model's row to `livecodebench.csv` among the published tables.

    Args:
        log: the harness's file.
        model: the model's name in the table.
        address: where the file was published, as a web address.
        published: the folder `results/published`.
        today: when it is filed.

    Returns:
        The table, and the figures that were added to it.

    Raises:
        UserError: another shape of file, no web address, a model with a row, or no published tables.
    """
    if not address.startswith(("https://", "http://")):
        raise UserError(f"expected the web address of the outputs at --address, got {address!r}")
    if not (published / _SOURCES).is_file():
        raise UserError(
            f"expected the published tables with their {_SOURCES} in {str(published)!r}, there are none;"
            " run the command in a clone, or name its folder of results at --results"
        )
    outputs = read_livecodebench(log)
    table = published / f"{_TABLE}.csv"
    rows = _rows(table)
    if model in {row[0] for row in rows}:
        raise UserError(f"{str(table)!r} has a row of {model!r} already; delete it or use another --model")
    receipt = (log.name, hashlib.sha256(log.read_bytes()).hexdigest(), address, today.isoformat())
    counts = (str(outputs.questions), str(outputs.samples), outputs.first_contest, outputs.last_contest)
    rows.append([model, f"{outputs.pass_at_1:.6g}", *counts, *receipt])
    replace_file(table, "".join(map(_line, [_COLUMNS, *rows])))
    _name_source(published / _SOURCES, today)
    return table, outputs


def _rows(table: Path) -> list[list[str]]:
    """The rows of the table below its head; none where it is not there yet."""
    if not table.exists():
        return []
    head, *rows = csv.reader(io.StringIO(table.read_text("utf-8")))
    if tuple(head) != _COLUMNS:
        raise UserError(
            f"{table}: expected the columns {','.join(_COLUMNS)}, got {','.join(head)!r}; mend it"
        )
    return rows


def _name_source(path: Path, today: date) -> None:
    """Puts the table's line into the list of sources; all other lines stay as they are."""
    lines = [line for line in path.read_text("utf-8").splitlines(True) if not line.startswith(f"{_TABLE},")]
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    replace_file(path, "".join([*lines, _line((_TABLE, *_SOURCE, today.isoformat(), _NOTE))]))


def _line(cells: Sequence[str]) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerow(cells)
    return target.getvalue()
