"""The site builder: reads results, writes pages. Never calls a model or runs a program."""

import csv
from importlib.resources import files


def packaged_table(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file of this package, by the heads of its columns."""
    with files(__package__).joinpath(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
