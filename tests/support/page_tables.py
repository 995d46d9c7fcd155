"""What a page of the site says: its links, the ids in it, its tables, and what runs in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder

LINK = re.compile(r"(?:https?:|data:image/)")
VOID = {"br", "hr", "img", "input", "link", "meta"}
"""Elements without an end."""


class _TreeMaker(HTMLParser):
    """Makes a tree of a page; every element that is no void one has to end."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._builder = TreeBuilder()
        self.feed(text)
        self.tree = self._builder.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._builder.start(tag, {name: value or "" for name, value in attrs})
        if tag in VOID:
            self._builder.end(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            ended = self._builder.end(tag).tag
            assert ended == tag, f"{ended} does not end in front of </{tag}>: {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self._builder.data(data)


def _text(element: Element) -> str:
    return "".join(map(str.strip, element.itertext()))


class Cell:
    """A cell of a table; `bold`, `small` and `links` are what stands in such elements, in order."""

    def __init__(self, element: Element) -> None:
        self.attributes = element.attrib
        self.text = _text(element)
        self.bold = "".join(map(_text, element.iter("b")))
        self.small = list(map(_text, element.iter("small")))
        self.links = [link.get("href", "") for link in element.iter("a")]


class Row:
    """A row of a table."""

    def __init__(self, element: Element) -> None:
        self.attributes = element.attrib
        self.cells = list(map(Cell, element))


@dataclass
class Table:
    """A table; `label` is its caption, or the name of the frame around it."""

    attributes: dict[str, str]
    label: str
    rows: list[Row]

    @property
    def head(self) -> list[str]:
        """The headings, without their small print."""
        return [cell.text.removesuffix("".join(cell.small)).strip() for cell in self.rows[0].cells]

    @property
    def body(self) -> list[Row]:
        """The rows below the headings."""
        return self.rows[1:]


class PageParser:
    """Reads one page."""

    def __init__(self, path: Path) -> None:
        tree = _TreeMaker(path.read_text()).tree
        attributes = [pair for element in tree.iter() for pair in element.attrib.items()]
        self.links = [value for name, value in attributes if name in {"href", "src"}]
        self.ids = [value for name, value in attributes if name == "id"]
        self.inline = [name for name, _ in attributes if name == "style" or name.startswith("on")]
        """Attributes that run or have a style."""
        self.scripts = [script.text or "" for script in tree.iter("script") if "src" not in script.attrib]
        """The text of each script that is no file."""
        self.tables = list(_tables(tree))


def _tables(tree: Element) -> Iterator[Table]:
    label = ""
    for element in tree.iter():
        if "table-frame" in element.get("class", ""):
            label = element.get("aria-label", "")
        elif element.tag == "table":
            caption = "".join(map(_text, element.iter("caption")))
            rows = list(map(Row, element.iter("tr")))
            yield Table(element.attrib, element.get("aria-label", label) + caption, rows)


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
