"""Tables for papers and badges: nothing that a name holds becomes a command or markup."""

import xml.etree.ElementTree as ET

from triathlon_site.build import build  # noqa: F401  (pages are imported before what they export)
from triathlon_site.exports import latex_table
from triathlon_site.figures import badge

HOSTILE = r"\input{/etc/passwd} 100% & <b>_^~#$"


def test_a_name_is_no_command() -> None:
    """Every sign that LaTeX reads is escaped; a line break cannot end a comment or a row."""
    text = latex_table("a\n\\input{x}", ("Model", HOSTILE), [(HOSTILE, "two\nlines")])
    escaped = r"\textbackslash{}input\{/etc/passwd\} 100\% \& \textless{}b\textgreater{}\_"
    assert text.count(escaped) == 2 and r"\input" not in text.splitlines()[1:]
    assert text.splitlines()[0].startswith("% a ") and "two lines" in text


def test_a_table_has_a_line_a_row() -> None:
    """Text left, numbers right, between rules; columns of one name are both shown."""
    text = latex_table("t", ("Rank", "Model", "ASL", "ASL"), [("1", "a_b", "7.5 (7.0–8.0)", "")])
    assert text.splitlines()[1:] == [
        r"\begin{tabular}{rlrr}",
        r"\toprule",
        r"Rank & Model & ASL & ASL \\",
        r"\midrule",
        r"1 & a\_b & 7.5 (7.0--8.0) &  \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_badge_is_a_picture_of_its_own() -> None:
    """Well-formed XML with a title, whatever the words."""
    picture = ET.fromstring(str(badge("Triathlon", "<script>", "#000000")))
    assert picture.findtext("{http://www.w3.org/2000/svg}title") == "Triathlon: <script>"
