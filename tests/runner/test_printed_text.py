"""Text of files and servers in a log and in Markdown: it stays text."""

import pytest

from triathlon_runner.terminal import console, in_markdown, table, visible


@pytest.mark.parametrize(
    "command", ["::error::pwned", "  ::add-mask::x", "a\n::stop-commands::x", "a ##[error]b"]
)
def test_no_line_of_a_log_is_a_command(command: str) -> None:
    """A workflow's runner executes lines that begin with two colons, or hold the older brackets."""
    shown = visible(command)
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines()) and "##[" not in shown
    assert "::" in shown or "error" in shown


def test_colons_in_other_text() -> None:
    """Slices and scopes stay; each line end is looked at once, however many blank lines follow."""
    assert visible("xs[::2]\n    std::vector") == "xs[::2]\n    std::vector"
    assert visible("::" + "\n" * 200_000).startswith("\\x3a:")


def test_no_line_of_a_file_ends_with_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    """A table's cells are filled up to the widest one: in a window of 80 columns each line took two."""
    shown = table("id", "title")
    shown.add_row("a", "x" * 100)
    shown.add_row("b", "y")
    console().print(shown)
    console().print_message("one \n\ntwo")
    assert capsys.readouterr().out == f"id  title\na   {'x' * 100}\nb   y\none\n\n  two\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![x](http://evil.example/p.png)", "\\!\\[x\\]\\(http:\u200b//evil.example/p.png\\)"),
        ("@octocat <img src=x> &lt;", "@\u200boctocat &lt;img src=x&gt; &amp;lt;"),
        ("a\n# H1 | `code` *b* _c_", "a \\#\u200b H1 \\| \\`code\\` \\*b\\* \\_c\\_"),
        ("www.evil.example \\", "www\u200b.evil.example \\\\"),
        ("- no item", "\\- no item"),
        ("core/seeds/apple-market, line 3", "core/seeds/apple-market, line 3"),
    ],
)
def test_markdown_shows_text_as_it_is(text: str, shown: str) -> None:
    """In one line: no link, picture, heading, mention, cell's end or HTML."""
    assert in_markdown(text) == shown
