"""Templates: where markup is, what they may use, and what may stand in a page."""

import ast
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import jinja2
import jinja2.meta
import pytest
from markupsafe import Markup, escape

import triathlon_site.pages
from support.results import FakeSuite, write_results
from support.site import MODELS, entries, imported_results, rich_results
from triathlon_runner.records import Outcome
from triathlon_site.build import gather
from triathlon_site.pages import Rendering
from triathlon_site.render import Draft, Environment, find_templates, installed_environment


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A folder with one template."""
    folder = tmp_path / "templates"
    (folder / "assets").mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("a\x00b", "a␀b"),
        ("\x1b[31mred\x7f", "␛[31mred␡"),
        ("12\u202e34", "12[U+202E]34"),
        ("\x9b2J \u2066x\u2069", "[U+009B]2J [U+2066]x[U+2069]"),
        ("a\u00a0b – é 试 😀\t\r\n", "a\u00a0b – é 试 😀\t\r\n"),
        ("half \ud83d of a pair\x07", "half \ud83d of a pair␇"),
    ],
)
def test_control_characters_are_made_visible(templates: Path, written: str, seen: str) -> None:
    """Control characters, and those that turn the direction of a text; everything else stays as it is."""
    (templates / "page.html.jinja").write_text("{{ name }}")
    assert Environment(templates).render("page", name=written) == seen


@pytest.mark.parametrize("value", ["<a href='x'>\"&amp;\"</a>", Markup("<b>"), Outcome.TIMED_OUT, 1.5, None])
def test_values_are_escaped_as_jinja_escapes_them(templates: Path, value: object) -> None:
    """Short and long texts alike; what is marked as safe stays as it is."""
    (templates / "page.html.jinja").write_text("{{ value }}")
    for shown in (value, value * 99) if isinstance(value, str) else (value,):
        assert Environment(templates).render("page", value=shown) == str(escape(shown))


PUBLISHED = Path(__file__).parents[2] / "results" / "published"
CODE = Path(triathlon_site.pages.__file__).parents[1]
TEMPLATES = find_templates()
MARKUP = re.compile(r"</?[a-zA-Z!]")
COMMON = {
    "root", "here", "leaderboards", "links", "site", "asset", "inline", "inline_hash", "range", "remembered",
}  # fmt: skip
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


def test_markup_is_written_in_templates_only() -> None:
    """No string in the site's Python holds a tag."""
    found = [
        f"{path.relative_to(CODE)}:{line}: {text!r}"
        for path in sorted(CODE.rglob("*.py"))
        for line, text in _strings(path)
        if MARKUP.search(text)
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


def test_templates_use_what_their_pages_hand_them(tmp_path: Path) -> None:
    """Every name in a page's template, or in one that it includes, is handed over or a common one, and every
    value that is handed over is used; of all pages of a site with measured, imported and published results.
    """
    results = imported_results(rich_results(tmp_path / "results", MODELS, tasks=4))
    write_results(results, MODELS, [FakeSuite(entry, tasks=4) for entry in entries(["loop/mbpp-plus"])])
    shutil.copytree(PUBLISHED, results / "published")
    rendering = Rendering(gather(results, None), installed_environment())
    drafts = [part for number in range(len(rendering)) for part in rendering.parts(number)]
    handed = {draft.template: set(draft.values) for draft in drafts if isinstance(draft, Draft)}
    assert len(handed) > 20
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), trim_blocks=True, autoescape=True
    )
    for template, declared in handed.items():
        page = (TEMPLATES / f"{template}.html.jinja").read_text()
        included = re.findall(r'include "([\w/.]+jinja)"', page)
        if template == "board/page":
            included += [f"board/{p.name}" for p in (TEMPLATES / "board").iterdir() if "page" not in p.name]
        used: set[str] = set()
        for source in (page, *((TEMPLATES / name).read_text() for name in included)):
            environment.filters.update(dict.fromkeys(re.findall(r"\|\s*(\w+)", source), str))
            used |= jinja2.meta.find_undeclared_variables(environment.parse(source)) - (
                _defined(source) - declared
            )
        assert used - declared <= COMMON, template
        assert declared <= used, template
