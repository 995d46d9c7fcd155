"""What a discipline shows is said in its folder, and nowhere else in the pages."""

import ast
from collections.abc import Iterator
from pathlib import Path

import triathlon_site.pages
from triathlon_runner.records import Discipline

PAGES = Path(triathlon_site.pages.__file__).parent
OWN_FOLDER = PAGES / "board"
NAMES = {discipline.value for discipline in Discipline}


def _decisions(path: Path) -> Iterator[int]:
    """Lines that name a member of `Discipline`, or compare something with its name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == Discipline.__name__:
                yield node.lineno
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(isinstance(side, ast.Constant) and side.value in NAMES for side in sides):
                yield node.lineno


def test_no_page_decides_by_discipline_outside_its_folder() -> None:
    """No page outside `board/` asks which discipline it has: it asks the view of the board."""
    code = [
        f"{path.relative_to(PAGES)}:{line}"
        for path in sorted(PAGES.rglob("*.py"))
        if OWN_FOLDER not in path.parents
        for line in _decisions(path)
    ]
    assert code == []
    assert any(list(_decisions(path)) for path in OWN_FOLDER.rglob("*.py"))
