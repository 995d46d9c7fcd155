"""Templates that are kept compiled between builds."""

from pathlib import Path

import pytest

from triathlon_site.environment import Environment


def rendered(templates: Path, kept: Path) -> str:
    """What a new process makes of the one template."""
    environment = Environment(templates)
    environment.keep_compiled(kept)
    environment.compile()
    return environment.render("page", name="A & B")


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    """A folder with one template."""
    folder = tmp_path / "templates"
    (folder / "assets").mkdir(parents=True)
    (folder / "page.html.jinja").write_text("<p>{{ name }}</p>")
    return folder


def test_a_compiled_template_is_kept_until_its_source_changes(templates: Path, tmp_path: Path) -> None:
    """The second build finds what the first compiled; a changed template is compiled anew."""
    kept = tmp_path / "kept"
    assert rendered(templates, kept) == "<p>A &amp; B</p>"
    (file,) = kept.iterdir()
    compiled = file.stat().st_mtime_ns
    assert rendered(templates, kept) == "<p>A &amp; B</p>" and file.stat().st_mtime_ns == compiled
    (templates / "page.html.jinja").write_text("<b>{{ name }}</b>")
    assert rendered(templates, kept) == "<b>A &amp; B</b>"


def test_a_compiled_template_of_other_code_is_not_used(
    templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters and options are set by our code: what was compiled under other code is compiled anew."""
    kept = tmp_path / "kept"
    rendered(templates, kept)
    (file,) = kept.iterdir()
    before = file.read_bytes()
    monkeypatch.setattr("triathlon_site.environment.code_fingerprint", lambda: "another")
    assert rendered(templates, kept) == "<p>A &amp; B</p>" and file.read_bytes() != before


@pytest.mark.parametrize("left", [b"", b"half", None])
def test_what_is_kept_may_be_broken_or_missing(templates: Path, tmp_path: Path, left: bytes | None) -> None:
    """Half a file is compiled anew; where nothing can be kept, the page is made all the same."""
    kept = tmp_path / "kept"
    if left is None:
        kept.write_text("a file, so that nothing can be written below it")
    else:
        rendered(templates, kept)
        (file,) = kept.iterdir()
        file.write_bytes(left if not left else file.read_bytes()[: file.stat().st_size // 2])
    assert rendered(templates, kept) == "<p>A &amp; B</p>"


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
def test_what_cannot_be_seen_is_spelt_out(templates: Path, tmp_path: Path, written: str, seen: str) -> None:
    """Control characters and those that turn the direction of a text; everything else stays as it is."""
    (templates / "page.html.jinja").write_text("{{ name }}")
    assert Environment(templates).render("page", name=written) == seen
