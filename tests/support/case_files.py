"""Cases of tests that stand in files beside them: short values as CSV, programs and replies in sections."""

import csv
from pathlib import Path


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, by the names of its columns."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def sections(path: Path) -> dict[str, str]:
    """The texts of a file by their headings, which are lines that begin with `=== `.

    The blank line in front of a heading, and the end of a text's last line, are no part of the text.
    """
    texts: dict[str, list[str]] = {}
    lines: list[str] = []  # in front of the first heading: what the file is
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("=== "):
            assert line[4:] not in texts, f"{path}: {line[4:]!r} stands twice"
            texts[line[4:]] = lines = []
        else:
            lines.append(line)
    return {heading: "\n".join(lines[:-1]) for heading, lines in texts.items()}


def listed(path: Path) -> dict[str, list[str]]:
    """The lines of each section of a file, where a line is a case.

    Escapes in them, and in headings, are those of a Python string: `\\n` is a line end.
    """
    return {
        unescaped(heading): list(map(unescaped, text.split("\n"))) for heading, text in sections(path).items()
    }


def unescaped(text: str) -> str:
    """The text with `\\n`, `\\\\`, `\\u200b` and the like as the characters that they stand for."""
    return text.encode("raw_unicode_escape").decode("unicode_escape")
