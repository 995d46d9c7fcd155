"""What a discipline shows is said in its folder, and nowhere else in the pages."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import triathlon_site.pages
from triathlon_runner import catalogue

PAGES = Path(triathlon_site.pages.__file__).parent
OWN_FOLDER = PAGES / "board"
NAMES = {discipline.name for discipline in catalogue.DISCIPLINES}


def _decisions(path: Path) -> Iterator[int]:
    """Lines that compare something with the name of a discipline, or choose by it in a dictionary."""
    for node in ast.walk(ast.parse(path.read_text())):
        names: Sequence[ast.expr | None] = ()
        if isinstance(node, ast.Compare):
            names = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            names = node.keys
        for name in names:
            if isinstance(name, ast.Constant) and name.value in NAMES:
                yield name.lineno


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
