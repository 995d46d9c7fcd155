"""`models-info.csv`: facts of the models of every source, and where to look them up."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.published._csv_file import read_table

NAME: Final = "models-info.csv"
UNDISCLOSED: Final = "undisclosed"
_MONTH: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model's facts, as texts; empty where they are not known."""

    model: str
    """Its name in `aliases.csv`, or in the one table that has it."""
    organization: str = ""
    parameters_b: str = ""
    """Billions, or `undisclosed`."""
    active_b: str = ""
    """Billions that work on a token, for mixtures of experts."""
    licence: str = ""
    open_weights: str = ""
    """`yes` or `no`."""
    released: str = ""
    """Month, such as `2024-11`."""
    context: str = ""
    """Tokens."""
    price_in: str = ""
    """USD per million tokens, list price on `price_date`."""
    price_out: str = ""
    price_date: str = ""
    price_link: str = ""
    """Where the maker lists prices; not opened either."""
    card: str = ""
    """Address of the model's card or its maker's page. Nobody opened it when the facts were written down, so
    it is where to look, not what they were copied from."""

    @property
    def size(self) -> str:
        """`7B`, `30.5B (3.3B active)`, `undisclosed`."""
        if not self.parameters_b or self.parameters_b == UNDISCLOSED:
            return self.parameters_b
        return f"{self.parameters_b}B" + (f" ({self.active_b}B active)" if self.active_b else "")

    @property
    def billions(self) -> float | None:
        """The size as a number; None where it is not known."""
        return float(self.parameters_b) if self.parameters_b not in ("", UNDISCLOSED) else None

    @property
    def price(self) -> tuple[float, float] | None:
        """USD per million tokens, in and out."""
        return (float(self.price_in), float(self.price_out)) if self.price_in and self.price_out else None


def read_facts(folder: Path) -> Mapping[str, ModelFacts]:
    """The facts by the model's name; none where the folder has no such file.

    Raises:
        UserError: an unknown or missing column, a model twice, or a value of another kind; names the line.
    """
    path = folder / NAME
    if not path.is_file():
        return {}
    columns = [field.name for field in fields(ModelFacts)]
    rows = read_table(path, columns)
    unknown = sorted({name for row in rows for name in row} - set(columns))
    if unknown:
        raise UserError(f"{path}: expected the columns {', '.join(columns)}, got {unknown[0]!r}")
    facts: dict[str, ModelFacts] = {}
    for line, row in enumerate(rows, start=2):
        fault = "a second row" if row["model"] in facts else _fault(row)
        if fault:
            raise UserError(f"{path}, line {line}: {fault} of {row['model']!r}")
        facts[row["model"]] = ModelFacts(**row)
    return facts


def _fault(row: Mapping[str, str]) -> str:
    for name in ("parameters_b", "active_b", "context", "price_in", "price_out"):
        value = row[name]
        if value and not (name == "parameters_b" and value == UNDISCLOSED) and not _is_number(value):
            return f"{name}: expected a number, got {value!r}"
    if row["open_weights"] not in ("", "yes", "no"):
        return f"open_weights: expected yes or no, got {row['open_weights']!r}"
    for name in ("released", "price_date"):
        if row[name] and not _MONTH.fullmatch(row[name]):
            return f"{name}: expected a month such as 2024-11, got {row[name]!r}"
    for name in ("price_link", "card"):
        if row[name] and not row[name].startswith("https://"):
            return f"{name}: expected an address that begins with https://, got {row[name]!r}"
    return ""


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+(\.\d+)?", text) is not None
