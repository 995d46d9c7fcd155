"""What the site says of one discipline stands in `board/`, and nowhere else in its code and templates."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import triathlon_site
from triathlon_runner import catalogue
from triathlon_site.render import find_templates

SITE: Final = Path(triathlon_site.__file__).parent
TEMPLATES: Final = find_templates()
BOARD_FOLDERS: Final = (SITE / "pages/board", TEMPLATES / "board")
NAMES: Final = [discipline.name for discipline in catalogue.DISCIPLINES]
RECORDS: Final = {entry.record.__name__ for entry in catalogue.entries()}
EXCEPTIONS: Final = {
    "analysis.py": "EvoEval's analyses, with the names of its sets",
    "published/_columns.py": "which column of a paper is which of ours; the interval of ASL, by its formula",
    "published/_tables.py": "mean ranks of variants, by the runner's formula",
    "costs.py": "the disciplines whose replies are programs, of which some do not run",
    "reproduction_plan.py": "a paper's suites and columns, by their names",
    "reproduction.py": "the sets that a paper's means are over",
    "reproduce_command.py": "a paper's judge is the loop's",
    "cli.py": "the help has examples, which name suites",
    "figures/_lines.py": "the axis of the curve counts loops",
    "figures/curves.html.jinja": "the same axis, of the figure without scripts",
    "assets/site.css": "the colour of each discipline",
    "method/page.html.jinja": "explains each discipline under a heading of its own",
}
"""Files that name a discipline outside `board/`, and why they may."""
_NAME: Final = rf"(?:{'|'.join(NAMES)})"
_ID: Final = re.compile(rf"{_NAME}([/:@_-].*)?|.*\b{_NAME}/.*", re.DOTALL)
"""`loop`, `loop/core`, `loop-mbpp-plus`, `evolved:average`, or a text with the id of a suite in it."""
_IN_MARKUP: Final = re.compile(rf"""(?:["'.]|--){_NAME}(?=["'/:@{{_ -])""")
"""In a template a quoted name, in a style sheet a class or a variable. Prose may say what there is."""


def _names(code: str) -> Iterator[str]:
    """Every discipline, type of its records, and id of its suites or columns in a module's code."""
    nodes = list(ast.walk(ast.parse(code)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from [node.value] if _ID.fullmatch(node.value) else []
        elif isinstance(node, ast.Name) and re.match(rf"{_NAME}_", node.id):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            imported = {*(node.module or "").split("."), *(alias.name for alias in node.names)}
            yield from sorted(imported & {*NAMES, *RECORDS})


def _named_in(path: Path) -> list[str]:
    text = path.read_text()
    return list(_names(text)) if path.suffix == ".py" else _IN_MARKUP.findall(text)


def test_nothing_outside_board_names_a_discipline() -> None:
    """A file that does is listed with its reason, and none is listed that no longer does."""
    files = {
        path.relative_to(root).as_posix(): path
        for root, pattern in ((SITE, "*.py"), (TEMPLATES, "*.*"))
        for path in root.rglob(pattern)
        if not any(folder in path.parents for folder in BOARD_FOLDERS)
    }
    named = {name: found for name, path in files.items() if (found := _named_in(path))}
    assert {name: found for name, found in named.items() if name not in EXCEPTIONS} == {}
    assert named.keys() == EXCEPTIONS.keys()
