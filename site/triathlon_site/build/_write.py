"""Writing the site: a new folder beside the old one, which then takes its place."""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_site.build._folder import MARK, check_replaceable, replace_site
from triathlon_site.evidence import evidence_path, imported_slug
from triathlon_site.figures import PLOTLY, plotly_script
from triathlon_site.load import FileAggregate
from triathlon_site.pages import Gathered, Rendering, imported_files
from triathlon_site.render import Environment
from triathlon_site.workers import run_all

COPIED_AT_A_TIME: Final = 1000
"""Pages of evidence that one job copies."""
File = tuple[str, Path]
"""Path on the site, and the file that is copied there."""


def evidence_files(site: Gathered) -> Iterator[File]:
    """Path on the site and file in the cache, for every page of evidence."""
    for file in site.results.files:
        yield from _pages_of(file, site.models[file.model].slug)
    for file in imported_files(site.imported):
        yield from _pages_of(file, imported_slug(site.models[file.model].slug))


def _pages_of(file: FileAggregate, folder: str) -> Iterator[File]:
    for name in file.extracts.sizes:
        number, _, suffix = name.partition(".")
        if number.isdecimal() and suffix == "html":
            yield evidence_path(folder, file.suite, int(number)), file.extracts.path(name)


def write_site(out: Path, rendering: Rendering, files: Iterable[File] = (), *, processes: int = 1) -> int:
    """Replaces `out` by a rendered site and says how many pages it has.

    All is written to a new folder first: a page that cannot be made leaves `out` as it is. `files` are
    copied, not linked: a page that somebody edits in the site must not change the cache.

    Args:
        out: the folder of the site.
        rendering: what makes its pages.
        files: what is there already.
        processes: how many render and write at a time.

    Raises:
        UserError: `out` holds something else than a site, or cannot be written.
    """
    check_replaceable(out)
    out = out.resolve()  # behind a link, its target is replaced, not the link
    draft = out.with_name(f".{out.name}.{os.getpid()}.new")
    try:
        draft.mkdir(parents=True)
        assets = _write_assets(draft, rendering.environment)
        pages = list(chain.from_iterable(run_all(_jobs(draft, rendering, list(files)), processes)))
        _check_names([*assets, *pages])
        replace_site(draft, out)
    except OSError as error:
        raise UserError(f"cannot write the site to {str(out)!r} ({error}); pass another --out") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return len(pages)


def _jobs(draft: Path, rendering: Rendering, files: Sequence[File]) -> list[partial[list[str]]]:
    """Each writes some pages and returns their paths."""
    starts = range(0, len(files), COPIED_AT_A_TIME)
    return [
        *(partial(_write_section, draft, rendering, number) for number in range(len(rendering))),
        *(partial(_copy, draft, files[start : start + COPIED_AT_A_TIME]) for start in starts),
    ]


def _write_section(draft: Path, rendering: Rendering, number: int) -> list[str]:
    return [_write(draft, page.path, page.bytes) for page in rendering.section(number)]


def _copy(draft: Path, files: Sequence[File]) -> list[str]:
    return [_write(draft, path, source.read_bytes()) for path, source in files]


def _write_assets(draft: Path, environment: Environment) -> list[str]:
    """Writes what pages are shown with and returns the paths."""
    assets = {
        MARK: b"",
        ".nojekyll": b"",  # GitHub Pages: publish the files as they are
        **{path: environment.asset_contents[name] for name, path in environment.assets.items()},
        f"assets/{PLOTLY}": plotly_script(),
    }
    return [_write(draft, path, content) for path, content in assets.items()]


def _write(draft: Path, path: str, content: bytes) -> str:
    target = draft / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return path


def _check_names(names: Iterable[str]) -> None:
    """No page may replace another, on a disk that does not tell upper from lower case either.

    Raises:
        UserError: two pages of one name.
    """
    seen: dict[str, str] = {}
    for name in names:
        key = name.casefold()
        if key in seen:
            raise UserError(
                f"two pages of the site have the same file name, {seen[key]!r} and {name!r}:"
                " rename the model or the suite that one of them is named after"
            )
        seen[key] = name
