"""What a page of the site says: its links, the ids in it, its tables, and what runs in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

Attributes = dict[str, str]
LINK = re.compile(r"(?:https?:|data:image/)")


@dataclass
class Cell:
    """A cell of a table; `bold`, `small` and `links` are what stands in such elements, in order."""

    attributes: Attributes
    text: str = ""
    bold: str = ""
    small: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)


@dataclass
class Row:
    """A row of a table."""

    attributes: Attributes
    cells: list[Cell] = field(default_factory=list)


@dataclass
class Table:
    """A table; `label` is its caption, or the name of the frame around it."""

    attributes: Attributes
    label: str
    rows: list[Row] = field(default_factory=list)

    @property
    def head(self) -> list[str]:
        """The headings, without their small print."""
        return [cell.text.removesuffix("".join(cell.small)).strip() for cell in self.rows[0].cells]

    @property
    def body(self) -> list[Row]:
        """The rows below the headings."""
        return self.rows[1:]


class PageParser(HTMLParser):
    """Reads one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tables: list[Table] = []
        self.inline: list[str] = []
        """Attributes that run or have a style."""
        self.scripts: list[str] = []
        """The text of each script that is no file."""
        self._label = ""
        self._open: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.inline += [name for name in attributes if name == "style" or name.startswith("on")]
        self.scripts += [""] if tag == "script" and "src" not in attributes else []
        self._open.append(tag)
        if tag == "div" and "table-frame" in attributes.get("class", ""):
            self._label = attributes.get("aria-label", "")
        elif tag == "table":
            self.tables.append(Table(attributes, attributes.get("aria-label", self._label)))
        elif tag == "tr":
            self.tables[-1].rows.append(Row(attributes))
        elif tag in {"td", "th"}:
            self.tables[-1].rows[-1].cells.append(Cell(attributes))
        elif tag == "small" and self._cell:
            self._cell.small.append("")
        elif tag == "a" and self._cell:
            self._cell.links.append(attributes.get("href", ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["script"]:
            self.scripts[-1] += data
        text = data.strip()
        if text and "caption" in self._open:
            self.tables[-1].label += text
        if text and (cell := self._cell):
            cell.text += text
            if "b" in self._open:
                cell.bold += text
            if "small" in self._open:
                cell.small[-1] += text

    @property
    def _cell(self) -> Cell | None:
        """The cell that is being read."""
        inside = {"td", "th"} & set(self._open)
        return self.tables[-1].rows[-1].cells[-1] if inside else None


def pages_of(site: Path) -> dict[Path, PageParser]:
    """Every page of a site."""
    return {path.resolve(): PageParser(path) for path in site.rglob("*.html")}


def check_links(pages: Mapping[Path, PageParser]) -> None:
    """Every link leads to a file, and to a part of it that is there; outside, only to web addresses."""
    for path, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), path
        for link in page.links:
            if LINK.match(link):
                continue
            name, _, part = link.partition("#")
            target = (path.parent / name.partition("?")[0]).resolve() if name else path
            assert target.exists(), (path.name, link)
            if part and target in pages:
                assert part in pages[target].ids, (path.name, link)
