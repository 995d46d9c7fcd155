"""Which part of a package may import which: the tables of folders in docs/architecture.md have the layers."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"runner": ROOT / "runner/triathlon_runner", "site": ROOT / "site/triathlon_site"}
OF_PACKAGES = {"__version__", "packaged_table"}
"""What stands in the packages' own `__init__.py`, above all rows."""


def rows(package: str) -> list[list[str]]:
    """The parts of a package by the rows of its table of folders, from the top: a row is a layer."""
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    table = text.partition(f"| folder of `{package}/triathlon_{package}/`")[2].partition("\n\n")[0]
    return [re.findall(r"`(\w+)(?:\.py)?`", line.split("|")[1]) for line in table.splitlines()[2:]]


def imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    """The modules of our packages that a file imports, each with its package: `runner`, `loop`, `_suite`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            package = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                first, *module = f"{package}{alias.name}".split(".")
                if first.startswith("triathlon_") and module and module[0] not in OF_PACKAGES:
                    yield (first.removeprefix("triathlon_"), *module)


def parts(package: str) -> dict[str, list[Path]]:
    files: dict[str, list[Path]] = {}
    for path in sorted(PACKAGES[package].rglob("*.py")):
        module = path.relative_to(PACKAGES[package]).with_suffix("").parts
        if module != ("__init__",):
            files.setdefault(module[0], []).append(path)
    return files


@pytest.mark.parametrize(
    ("package", "part"), [(package, part) for package in PACKAGES for part in parts(package)]
)
def test_imports_point_up_in_the_table(package: str, part: str) -> None:
    """A part imports from the rows above its own and from no part of its row; the runner never the site."""
    height = {part: place for place, row in enumerate(rows(package)) for part in row}
    assert part in height, (
        f"{part} is new: put it into the table of docs/architecture.md, below all it imports"
    )
    wrong = [
        f"{path.relative_to(ROOT)} imports {'.'.join(module)}"
        for path in parts(package)[part]
        for other, *module in imported_modules(path)
        if (other == package and module[0] != part and height.get(module[0], len(height)) >= height[part])
        or (other, package) == ("site", "runner")
    ]
    assert not wrong


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_listed_twice(package: str) -> None:
    """Each part stands in one row of the table, and each part that is listed exists."""
    listed = [part for row in rows(package) for part in row]
    assert len(listed) == len(set(listed)) and set(listed) == set(parts(package))
