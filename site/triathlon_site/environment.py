"""Templates: where they lie, and how they are filled."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from triathlon_site.load import code_fingerprint


def find_templates() -> Path:
    """Beside the package in an installed wheel, at the root of a checkout.

    Raises:
        FileNotFoundError: neither; the package was built without its templates.
    """
    package = Path(__file__).parent
    for folder in (package / "templates", package.parents[1] / "templates"):
        if (folder / "base.html.jinja").is_file():
            return folder
    raise FileNotFoundError(f"no templates beside {package} or at the root of its checkout")


_UNSEEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of what follows them, digits of scores included."""

_USUAL: Final = bytes([*b"\t\n\r", *range(0x20, 0x7F)])


def spelt_out(page: str) -> str:
    """The page with every unseen character in view.

    Hardly a page has one. To find that out, what is usual is left out first, which takes a third of the time
    of a search in all of it, and hundreds of megabytes pass here in a large build.
    """
    unusual = page.encode(errors="surrogatepass").translate(None, _USUAL).decode(errors="surrogatepass")
    return _UNSEEN.sub(_visible, page) if _UNSEEN.search(unusual) else page


def _visible(found: re.Match[str]) -> str:
    """The Unicode picture of a control character (␀, ␛), else its number."""
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else f"[U+{code:04X}]"


class _Compiled(jinja2.FileSystemBytecodeCache):
    """Compiled templates. It saves time, nothing hangs on it."""

    def get_source_checksum(self, source: str) -> str:
        """Of all that shapes the compiled template: its source, jinja, and the options that we set."""
        return super().get_source_checksum(f"{jinja2.__version__} {code_fingerprint()} {source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # no room, or not ours to write: the next build compiles again
            super().dump_bytecode(bucket)


class Environment:
    """Autoescape on, undefined names refused; assets are named by their content."""

    def __init__(
        self,
        templates: Path,
        *,
        filters: Mapping[str, Callable[..., Any]] | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        """`filters` and `functions`: what templates may use beside jinja's own and our assets."""
        self._templates = templates
        self._jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,  # a build of ten thousand units would look as often whether a template changed
        )
        self._jinja.filters.update(filters or {})
        self._jinja.globals.update(functions or {})
        self._jinja.globals["asset"] = self.assets.__getitem__
        self._jinja.globals["inline"] = cache(self._inline)
        self._jinja.globals["inline_hash"] = cache(self._inline_hash)

    def render(self, template: str, **context: Any) -> str:
        """The page, with control characters spelt out."""
        return spelt_out(self._jinja.get_template(f"{template}.html.jinja").render(**context))

    def keep_compiled(self, folder: Path) -> None:
        """Looks here for what an earlier build compiled, and leaves here what it had to compile."""
        with suppress(OSError):  # as above
            folder.mkdir(parents=True, exist_ok=True)
        self._jinja.bytecode_cache = _Compiled(str(folder))

    def compile(self) -> None:
        """Every page's template."""
        for name in self._jinja.list_templates(extensions=["jinja"]):
            self._jinja.get_template(name)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of every template and asset."""
        digest = hashlib.sha256()
        for path in sorted(path for path in self._templates.rglob("*") if path.is_file()):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    @cached_property
    def assets(self) -> dict[str, str]:
        """Source name → published path with a content hash, so that a browser may keep a file for ever."""
        return {name: self._published(name, content) for name, content in self.asset_contents.items()}

    @cached_property
    def asset_contents(self) -> dict[str, bytes]:
        folder = self._templates / "assets"
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}

    def _inline(self, name: str) -> Markup:
        """A script or style of ours as a part of the page: what the first paint needs."""
        return Markup(self.asset_contents[name].decode())

    def _inline_hash(self, name: str) -> str:
        """What the content policy lets it in by; any other script or style in a page stays out."""
        digest = hashlib.sha256(self.asset_contents[name]).digest()
        return f"sha256-{base64.b64encode(digest).decode()}"

    @staticmethod
    def _published(name: str, content: bytes) -> str:
        stem, dot, suffix = name.partition(".")
        return f"assets/{stem}-{hashlib.sha256(content).hexdigest()[:10]}{dot}{suffix}"
