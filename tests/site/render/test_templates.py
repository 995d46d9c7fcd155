"""Where markup is, and what templates may use."""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import jinja2
import jinja2.meta
import pytest

import triathlon_site.pages
from triathlon_site.render import PageContext, find_templates

CODE = Path(triathlon_site.pages.__file__).parents[1]
TEMPLATES = find_templates()
MARKUP = re.compile(r"</?[a-zA-Z!]")
NOT_MARKUP = {"data/<board>.json, and the CSV beside it", "data/overall-<family>.json, and the CSV"}
"""Placeholders in a description, which a template escapes."""
COMMON = {"root", "here", "leaderboards", "links", "site", "asset", "inline", "inline_hash", "range"}
"""What every page may use beside its own context."""


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Every string of a file that is no docstring, with its line."""
    tree = ast.parse(path.read_text())
    bare = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in bare:
            yield node.lineno, node.value


def _defined(source: str) -> set[str]:
    """The macros that a template defines or imports, and the variables that it sets."""
    imported = ",".join(re.findall(r"{% from \S+ import ([^%]+) %}", source))
    names = (name.split(" as ")[-1].strip() for name in imported.split(","))
    return {*names, *re.findall(r"{%-? (?:macro|set) (\w+)", source)}


def _contexts(kind: type[PageContext] = PageContext) -> Iterator[type[PageContext]]:
    for found in kind.__subclasses__():
        yield found
        yield from _contexts(found)


def test_markup_is_written_in_templates_only() -> None:
    """No string in the site's Python holds a tag."""
    found = [
        f"{path.relative_to(CODE)}:{line}: {text!r}"
        for path in sorted(CODE.rglob("*.py"))
        for line, text in _strings(path)
        if MARKUP.search(text) and text not in NOT_MARKUP
    ]
    assert found == []


def test_lines_of_templates_are_short() -> None:
    """Under 120 characters, as a person reads them."""
    long = [
        f"{path.relative_to(TEMPLATES)}:{number}"
        for path in sorted(TEMPLATES.rglob("*.jinja"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) >= 120
    ]
    assert long == []


@pytest.mark.parametrize("context", list(_contexts()), ids=lambda context: context.template)
def test_a_template_uses_what_its_context_declares(context: type[PageContext]) -> None:
    """Every name in a page's template, or in one that it includes, is a field of its context or a common one;
    every field is used, and the template lies in a folder of the page's name.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), trim_blocks=True, autoescape=True
    )
    folder = TEMPLATES / Path(context.template).parent
    page = (TEMPLATES / f"{context.template}.html.jinja").read_text()
    included = re.findall(r'include "([\w/.]+jinja)"', page)
    if context.template == "board/page":
        included += [f"board/{path.name}" for path in folder.iterdir() if path.name != "page.html.jinja"]
    declared = {field.name for field in fields(context)}
    used: set[str] = set()
    for source in (page, *((TEMPLATES / name).read_text() for name in included)):
        environment.filters.update(dict.fromkeys(re.findall(r"\|\s*(\w+)", source), str))
        used |= jinja2.meta.find_undeclared_variables(environment.parse(source)) - (
            _defined(source) - declared
        )
    assert used - declared <= COMMON
    assert declared <= used
    assert context.__module__.split(".")[2] == context.template.partition("/")[0]
