"""Templates and how they are filled; what a page is before and after; the tables and figures in it."""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import jinja2
import jinja2.runtime
import markupsafe
from jinja2.compiler import CodeGenerator, Frame
from jinja2.nodes import Expr
from markupsafe import Markup

from triathlon_site.render.formats import FILTERS, NONE

MISSING: Final = "404.html"  # what hosts of static pages show for an address that leads nowhere
_UNSEEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of what follows them, digits of scores included."""
_PLAIN: Final = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
"""What nearly all of every text is, and no unseen character."""
_ESCAPE: Final[Callable[[str], str]] = getattr(markupsafe, "_escape_inner", markupsafe.escape)
"""What escapes texts in `markupsafe`; where it is hidden, with the mark that takes several times as long."""


def find_templates() -> Path:
    """The folder of templates: beside the package in a wheel, at the root of a checkout.

    Raises:
        FileNotFoundError: neither is there; the package was built without its templates.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "templates", package.parents[1] / "templates"):
        if (folder / "base.html.jinja").is_file():
            return folder
    raise FileNotFoundError(f"no templates beside {package} or at the root of its checkout")


def show_control_characters(page: str) -> str:
    """The page with every invisible character as its Unicode picture (␀, ␛), else as its number."""

    def visible(match: re.Match[str]) -> str:
        code = ord(match[0])
        if code < 0x20:
            return chr(0x2400 + code)
        return "\N{SYMBOL FOR DELETE}" if code == 0x7F else f"[U+{code:04X}]"

    # The pattern looks at each character; bytes fall out of a text three times as fast.
    others = page.encode(errors="surrogatepass").translate(None, _PLAIN)
    if not _UNSEEN.search(others.decode(errors="surrogatepass")):
        return page
    return _UNSEEN.sub(visible, page)


def escaped(value: Any) -> str:
    """The value as a page shows it: what `markupsafe.escape` makes, without its mark that it is safe."""
    if type(value) is str:
        return _ESCAPE(value)
    return value if isinstance(value, Markup) else _ESCAPE(str(value))


class _Code(CodeGenerator):
    """Templates whose values become plain texts: only the whole, not each of millions of parts, is marked."""

    def _output_child_pre(self, node: Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or not frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write("environment.escaped(")


class _Context(jinja2.runtime.Context):
    """Calls functions as they are: none of ours asks for the context, for which each call would look."""

    def call(
        self,
        called: Callable[..., Any],
        /,
        *arguments: Any,
        _loop_vars: object = None,
        _block_vars: object = None,
        **named: Any,
    ) -> Any:
        """Calls it without what jinja hands over of the context."""
        return called(*arguments, **named)


class _Jinja(jinja2.Environment):
    code_generator_class = _Code
    context_class = _Context
    escaped = staticmethod(escaped)


class Environment:
    """Fills templates: autoescape on, undefined names refused, assets named by their content."""

    def __init__(self, templates: Path) -> None:
        """`templates`: the folder of templates, with a folder `assets` in it."""
        self._templates = templates
        self._jinja = _Jinja(
            loader=jinja2.FileSystemLoader(templates),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
        )
        self._jinja.filters.update(FILTERS | {"visible": show_control_characters, "tuple": tuple})
        self._jinja.globals["asset"] = self.assets.__getitem__
        self._jinja.globals["remembered"] = lru_cache(maxsize=4096)  # a macro with its last results
        self._jinja.globals["inline"] = cache(self._inline)
        self._jinja.globals["inline_hash"] = cache(self._inline_hash)
        for path in sorted(templates.glob("shared/*.jinja")):  # every template may use the macros of these
            module = self._jinja.get_template(f"shared/{path.name}").module
            macros = [value for value in vars(module).values() if isinstance(value, jinja2.runtime.Macro)]
            self._jinja.globals.update((macro.name, macro) for macro in macros)

    def render(self, template: str, /, **context: Any) -> str:
        """The page, its control characters made visible."""
        page = self._jinja.get_template(f"{template}.html.jinja").render(**context)
        return show_control_characters(page)

    def macro(self, template: str, name: str) -> Callable[..., Markup]:
        """A macro of a template as a function, for parts of pages that are made before the pages."""
        module = self._jinja.get_template(f"{template}.html.jinja").module
        macro: Callable[..., Markup] = getattr(module, name)
        return macro

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of every template; styles and scripts are not in it, since they change no text."""
        digest = hashlib.sha256()
        for path in sorted(self._templates.rglob("*.jinja")):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    @cached_property
    def assets(self) -> dict[str, str]:
        """Source name → published path with a content hash, so that a browser may keep a file for ever."""
        paths = {}
        for name, content in self.asset_contents.items():
            stem, dot, suffix = name.partition(".")
            paths[name] = f"assets/{stem}-{hashlib.sha256(content).hexdigest()[:10]}{dot}{suffix}"
        return paths

    @cached_property
    def asset_contents(self) -> dict[str, bytes]:
        """Source name → content of every asset."""
        folder = self._templates / "assets"
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}

    def _inline(self, name: str) -> Markup:
        """A script or style as a part of the page: what the first paint needs."""
        return Markup(self.asset_contents[name].decode())

    def _inline_hash(self, name: str) -> str:
        """The hash by which the content policy admits an inline script or style."""
        digest = hashlib.sha256(self.asset_contents[name]).digest()
        return f"sha256-{base64.b64encode(digest).decode()}"


@cache
def installed_environment() -> Environment:
    """The templates of this installation, parsed once a process."""
    return Environment(find_templates())


@dataclass(frozen=True, slots=True)
class Page:
    """A file of the site."""

    path: str
    content: str
    raw: bytes | None = None  # in place of the content where the file is not a text

    @property
    def bytes(self) -> bytes:
        """The file's content as it is written."""
        return self.content.encode() if self.raw is None else self.raw


@dataclass(frozen=True, slots=True)
class Draft:
    """A page whose template is still to be filled."""

    path: str
    template: str
    """Its path below `templates/`, without its suffix."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the template uses beside the site and what frames every page."""
    files: tuple[Page, ...] = ()
    """Data files that belong to it."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a navigation."""

    title: str
    path: str
    also: tuple[str, ...] = ()  # other pages that stand under this link

    def leads_to(self, page: str) -> bool:
        """Whether `page`, or the folder that it lies in, is what this link opens."""
        folder = f"{page.partition('/')[0]}.html"
        return not {page, folder}.isdisjoint((self.path, *self.also))


def as_script(content: Any) -> str:
    """JSON for a `<script>` element: no text in it, such as `</script>` in a name, can end the element.

    Control characters are made visible, as in pages.
    """
    text = json.dumps(_all_visible(content), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _all_visible(content: Any) -> Any:
    if isinstance(content, str):
        return show_control_characters(content)
    if isinstance(content, Mapping):
        return {_all_visible(name): _all_visible(value) for name, value in content.items()}
    return [_all_visible(value) for value in content] if isinstance(content, list | tuple) else content


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing with the sentence under it."""

    svg: Markup
    caption: str


@dataclass(frozen=True, slots=True)
class Value:
    """One cell: its text for pages and LaTeX, its numbers for CSV."""

    text: str
    small: str = ""
    """Below it, in small print, a line or several: an interval, a count."""
    number: float | None = None
    """In the unit of the text; None where the text is the value, or the cell is empty."""
    details: Mapping[str, float | None] = field(default_factory=dict)
    """The numbers of the small print by name: `low`, `high`, `models`."""
    link: str = ""
    """A page of the site, from its root."""
    sure: bool = True
    """False where the difference in the cell is not significant."""
    of_all: bool = False
    """In the first cell of a row: the row is over all models, and stands above them in every order."""
    fewest: int | None = None
    """The smaller end of a text that is a range of counts."""

    @property
    def sorts_by(self) -> float | None:
        """What its column is sorted by: its number, the smaller end of its range, else its first detail."""
        numbers = (self.number, self.fewest, *self.details.values())
        return next((number for number in numbers if number is not None), None)


@dataclass(frozen=True, slots=True)
class Section:
    """A title, a sentence or two, a table, figures."""

    title: str
    text: str
    head: tuple[str, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Heads of the columns with words and without a number, which are sorted as texts."""
        columns = zip(self.head, zip(*self.rows, strict=True), strict=True)
        return tuple(
            head
            for head, cells in columns
            if all(cell.sorts_by is None for cell in cells)
            and any(cell.text not in ("", NONE) for cell in cells)
        )

    @property
    def anchor(self) -> str:
        return "-".join(self.title.lower().replace(",", "").split())
