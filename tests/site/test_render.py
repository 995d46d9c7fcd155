"""Templates: where markup is, what they may use, what may stand in a page; where a discipline is named."""

import ast
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import jinja2
import jinja2.meta
import pytest
from markupsafe import Markup, escape

import triathlon_site
from support.case_files import rows
from support.site import MODELS, PUBLISHED, imported_results, results_on, rich_results
from triathlon_runner import catalogue
from triathlon_runner.records import Outcome
from triathlon_site.build import gather
from triathlon_site.pages import Rendering
from triathlon_site.ranking import UNITS_ARE_OPEN, Rank, RankShift, Score
from triathlon_site.render import Draft, Environment, find_templates, installed_environment
from triathlon_site.uncertainty import Interval


def render(folder: Path, name: object) -> str:
    """A page with this name, by an environment of one template."""
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "page.html.jinja").write_text("{{ name }}")
    return Environment(folder).render("page", name=name)


VISIBLE = {
    "a\x00b": "a␀b",
    "\x1b[31mred\x7f": "␛[31mred␡",
    "12\u202e34": "12[U+202E]34",
    "\x9b2J \u2066x\u2069": "[U+009B]2J [U+2066]x[U+2069]",
    "a\u00a0b – é 试 😀\t\r\n": "a\u00a0b – é 试 😀\t\r\n",
    "half \ud83d of a pair\x07": "half \ud83d of a pair␇",
}


def test_control_characters_are_made_visible(tmp_path: Path) -> None:
    """Control characters, and those that turn the direction of a text; everything else stays as it is."""
    assert {written: render(tmp_path, written) for written in VISIBLE} == VISIBLE


@pytest.mark.parametrize("value", ["<a href='x'>\"&amp;\"</a>", Markup("<b>"), Outcome.TIMED_OUT, 1.5, None])
def test_values_are_escaped_as_jinja_escapes_them(tmp_path: Path, value: object) -> None:
    """Short and long texts alike; what is marked as safe stays as it is."""
    for shown in (value, value * 99) if isinstance(value, str) else (value,):
        assert render(tmp_path, shown) == str(escape(shown))


CODE = Path(triathlon_site.__file__).parent
TEMPLATES = find_templates()
MARKUP = re.compile(r"</?[a-zA-Z!]")
COMMON = {"root", "here", "leaderboards", "links", "site", "has_tasks", "remembered"}
COMMON |= {"asset", "inline", "inline_hash", "range"}
"""What every page may use beside its own context."""


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Every string of a file that is no docstring, with its line."""
    tree = ast.parse(path.read_text())
    bare = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in bare:
            yield node.lineno, node.value


def _defined(source: str) -> set[str]:
    """The macros that a template defines or imports, the variables that it sets, and those of its loops."""
    imported = ",".join(re.findall(r"{% from \S+ import ([^%]+) %}", source))
    return {*re.split(r",\s*", imported), *re.findall(r"{%-? (?:macro|set|for) (\w+)", source)}


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
    lines = [line for path in TEMPLATES.rglob("*.jinja") for line in path.read_text().splitlines()]
    assert [line for line in lines if len(line) >= 120] == []


def test_templates_use_what_their_pages_hand_them(tmp_path: Path) -> None:
    """Every name in a template is handed over or a common one, and all that is handed over is used.

    No value has the name of a shared macro, which would stand in its place where it was forgotten.
    """
    shared = "".join(path.read_text() for path in TEMPLATES.glob("shared/*.jinja"))
    macros = set(re.findall(r"{% macro (\w+)", shared))
    assert len(macros) > 30
    results = imported_results(rich_results(tmp_path / "results", MODELS, tasks=4))
    results_on(results, MODELS, "loop/mbpp-plus", tasks=4)
    shutil.copytree(PUBLISHED, results / "published")
    rendering = Rendering(gather(results, None), installed_environment())
    drafts = [part for number in range(len(rendering)) for part in rendering.parts(number)]
    handed = {draft.template: set(draft.values) for draft in drafts if isinstance(draft, Draft)}
    assert len(handed) > 20
    loader = jinja2.FileSystemLoader(TEMPLATES)
    environment = jinja2.Environment(loader=loader, trim_blocks=True, autoescape=True)
    for template, declared in handed.items():
        page = (TEMPLATES / f"{template}.html.jinja").read_text()
        included = re.findall(r'include "([\w/.]+jinja)"', page)
        if template == "board/page":
            included += [f"board/{p.name}" for p in (TEMPLATES / "board").iterdir() if "page" not in p.name]
        used: set[str] = set()
        sources = (page, *((TEMPLATES / name).read_text() for name in included))
        for source in sources:
            environment.filters.update(dict.fromkeys(re.findall(r"\|\s*(\w+)", source), str))
            used |= jinja2.meta.find_undeclared_variables(environment.parse(source))
        used -= set().union(*map(_defined, sources)) - declared
        assert used - declared <= COMMON | macros, template
        assert declared <= used, template
        assert not declared & macros, template


SCORE = Score(0.5, Interval(0.4, 0.6), 20)


def macro(name: str, *arguments: object, **named: object) -> str:
    return str(installed_environment().macro("shared/cells", name)(*arguments, **named))


def test_rank_tier_and_shift_stand_where_they_are_asked_for() -> None:
    """A rank's interval is words for the ear; only a score that was judged again has the tick."""
    rank = Rank(2, tied=True, low=1, high=3)
    cell = replace(SCORE, rank=rank, tier=1, shift=RankShift(-2, significant=False))
    plain = '<td class="score" data-v="0.5"><b>50.0</b> <small>40.0–60.0</small>'
    assert macro("score", cell) == f"{plain}</td>"
    assert macro("score", cell, placed=True) == f'{plain} <small class="place">rank =2</small></td>'
    ranked = re.sub(r"\s+", " ", macro("score", cell, ranked=True))
    assert ranked == f'{plain} <small class="place">rank =2 (1–3), tier 1, −2?</small></td>'
    assert "–" in macro("score", None)
    assert macro("outcome", '<b a="1">').count("<") == 2
    assert re.sub(r"<[^>]+>", "", macro("rank", Rank(1, tied=False, low=1, high=80))) == "rank 1, 1 to 80"
    score = replace(SCORE, link="models/m.html#receipt", note="where it comes from")
    plain, again = (macro("mark", replace(score, judged_again=judged), "") for judged in (False, True))
    assert 'title="where it comes from">m</a>' in plain
    assert 'title="where it comes from">m✓</a>' in again
    assert ">m…</a>" in macro("mark", replace(score, apart=UNITS_ARE_OPEN), "")


BOARD_FOLDERS: Final = (CODE / "pages/board", TEMPLATES / "board")
NAMES: Final = [discipline.name for discipline in catalogue.DISCIPLINES]
RECORDS: Final = {entry.record.__name__ for entry in catalogue.entries()}
EXCEPTIONS: Final = [row["file"] for row in rows(Path(__file__).with_name("names_of_disciplines.csv"))]
"""Files that name a discipline outside `board/`, and why they may."""
_NAME: Final = rf"(?:{'|'.join(NAMES)})"
_IN_CODE: Final = re.compile(
    rf"""
    (?<!["'])["']{_NAME}([/:@_-][^"'\n]*)?["']  # `loop`, `loop-mbpp-plus`, `evolved:average`
    | (?<!["'])["'][^"'\n]*\b{_NAME}/           # a text with the id of a suite in it
    | \b{_NAME}_\w+                            # a name that begins so
    | \.{_NAME}\ import | \ import\ .*\b{_NAME}\b  # a package of the runner, a module of `board`
    | \b({"|".join(RECORDS)})\b                 # the type of its records
    """,
    re.VERBOSE,
)
_IN_MARKUP: Final = re.compile(rf"""(?:["'.]|--){_NAME}(?=["'/:@{{_ -])""")
"""In a template a quoted name, in a style sheet a class or a variable. Prose may say what there is."""


def test_nothing_outside_board_names_a_discipline() -> None:
    """A file that does is listed with its reason, and none is listed that no longer does."""
    files = {
        path.relative_to(root).as_posix(): path
        for root, pattern in ((CODE, "*.py"), (TEMPLATES, "*.*"))
        for path in root.rglob(pattern)
        if not any(folder in path.parents for folder in BOARD_FOLDERS)
    }
    named = {}
    for name, path in files.items():
        rule = _IN_CODE if path.suffix == ".py" else _IN_MARKUP
        if found := [one.group() for one in rule.finditer(path.read_text())]:
            named[name] = found
    assert {name: found for name, found in named.items() if name not in EXCEPTIONS} == {}
    assert named.keys() == set(EXCEPTIONS)
