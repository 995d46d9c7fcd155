"""Templates and what may stand in a page."""

from pathlib import Path

import pytest

from triathlon_site.render import Environment


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
