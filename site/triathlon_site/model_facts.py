"""What is known of models that models.yaml does not list: names and facts of recorded ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED
from triathlon_site.models import ModelInfo, printable
from triathlon_site.published import read_table

NAMES: Final = "names.csv"
"""Columns id, name: what recorded models are called. A model that is not in it is called by its id."""
FACTS: Final = "models-info.csv"
_USED: Final = (
    "model",
    "organization",
    "parameters_b",
    "licence",
    "open_weights",
    "released",
    "price_in",
    "price_out",
    "source",
)
_OPEN: Final = {"yes": True, "no": False, "": None}


def recorded_infos(results: Path) -> Mapping[str, ModelInfo]:
    """Returns the cards of the recorded models that have a name, by id.

    Args:
        results: the folder of results.

    Raises:
        UserError: one of the files cannot be read, lacks a column, or says something that cannot be.
    """
    facts_file = results / "published" / FACTS
    facts = {row["model"]: row for row in _rows(facts_file, _USED)}
    names = _rows(results / RECORDED / NAMES, ("id", "name"))
    return {
        row["id"]: _info(row["id"], row["name"], facts.get(row["name"], dict.fromkeys(_USED, "")), facts_file)
        for row in names
    }


def _rows(path: Path, columns: tuple[str, ...]) -> Sequence[Mapping[str, str]]:
    """The rows of a file, which must have these columns; none where there is no file."""
    return read_table(path, columns) if path.exists() else ()


def _info(model: str, name: str, row: Mapping[str, str], path: Path) -> ModelInfo:
    where = f"{path}, {name!r}"
    if row["open_weights"] not in _OPEN:
        raise UserError(f"{where}: expected yes, no or nothing in open_weights, got {row['open_weights']!r}")
    return ModelInfo(
        id=model,
        name=printable(name),
        organization=row["organization"] or None,
        parameters=_size(row["parameters_b"]),
        license=row["licence"] or None,
        open_weights=_OPEN[row["open_weights"]],
        released=row["released"] or None,
        link=row["source"] or None,
        price=_price(row, where),
    )


def _size(billions: str) -> str | None:
    """`6.7B` from the number of billions; a word such as `undisclosed` stays."""
    if not billions:
        return None
    return f"{billions}B" if billions[0].isdigit() else billions


def _price(row: Mapping[str, str], where: str) -> tuple[float, float] | None:
    if not row["price_in"] or not row["price_out"]:
        return None
    try:
        return float(row["price_in"]), float(row["price_out"])
    except ValueError:
        raise UserError(
            f"{where}: expected numbers in price_in and price_out, got {row['price_in']!r} and"
            f" {row['price_out']!r}"
        ) from None
