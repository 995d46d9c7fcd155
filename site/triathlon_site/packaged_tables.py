"""Tables that are files of this package: what a person looks up in them stands in no code."""

import csv
from importlib.resources import files


def packaged_table(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file of this package, by the heads of its columns."""
    with files(__package__).joinpath(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
