"""Reading one CSV file that people write."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from triathlon_runner.errors import UserError

Record = dict[str, str]


def read_table(path: Path, expected: Sequence[str]) -> tuple[Record, ...]:
    """Every row with every cell; `expected` are the columns that must be there.

    Raises:
        UserError: the file cannot be read, lacks a column or has one twice, or has a row with cells too few
            or too many.
    """
    if path.is_symlink() or path.parent.is_symlink():
        raise UserError(f"expected a plain file at {str(path)!r}, got a link, which is not followed")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            head = next(lines, [])
            rows = [(lines.line_num, cells) for cells in lines if cells]
    except OSError as error:
        raise UserError(f"cannot read the table {str(path)!r} ({error.strerror})") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: expected a CSV file in UTF-8: {error}") from None
    for name in expected:
        if name not in head:
            raise UserError(f"{path}: expected a column {name!r}, got {', '.join(head)}")
    if repeated := [name for name, count in Counter(head).items() if count > 1]:
        raise UserError(
            f"{path}: expected columns of different names, got {repeated[0]!r} more than"
            " once; rename or remove all but one of them"
        )
    for line, cells in rows:
        if len(cells) != len(head):
            raise UserError(f"{path}, line {line}: expected {len(head)} cells, got {len(cells)}")
    return tuple(dict(zip(head, cells, strict=True)) for _, cells in rows)
