"""Writing the site: a new folder beside the old one, which then takes its place."""

import glob
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from triathlon_runner.errors import UserError
from triathlon_runner.records import RECORDED
from triathlon_runner.store import IMPORTED
from triathlon_runner.unit_pages import lines_page, suite_slug
from triathlon_site.evidence import INDEX, LINES, imported_slug
from triathlon_site.figures import PLOTLY, plotly_script
from triathlon_site.pages import Gathered, Rendering
from triathlon_site.workers import run_all

MARK: Final = ".triathlon-site"
"""Stands in every folder that we wrote: only such a folder, or an empty one, is ever replaced."""
MODELS: Final = "models"
"""Folder of a site with a page for each model; one without results has none."""
READ: Final = ("runs", "published", "archive", IMPORTED, RECORDED)
"""Folders among the results that no site may replace."""
_LEFT: Final = re.compile(r"\.(\d+)\.(new|old)")
"""How folders of a build at work end: its process, and whether they are a draft or a site set aside."""
File = tuple[str, Path]
"""Path on the site, and the file in the cache."""


def check_apart(results: Path, out: Path) -> None:
    """Refuses a site that would be read as results, and one whose next build would take results with it.

    Raises:
        UserError: naming both.
    """
    inner, outer = out.resolve(), results.resolve()
    if outer.is_relative_to(inner) or any(inner.is_relative_to(outer / name) for name in READ):
        raise UserError(
            f"--out {str(out)!r} and the results in {str(results)!r} must lie apart; name another"
        )


def check_empty(results: Path, out: Path, *, strict: bool = False) -> None:
    """Refuses to replace a site with models by one without: a failed run must not empty a published site.

    Raises:
        UserError: naming both, and what to do; with `strict` also where there is no site yet.
    """
    if (out / MODELS).is_dir():
        raise UserError(
            f"no results in {str(results)!r}: the site in {str(out)!r}, which has some, stays as it is;"
            " run `triathlon run` until there are results, name their folder with --results, or name"
            " another --out"
        )
    if strict:
        raise UserError(
            f"--strict: expected results in {str(results)!r}, there are none; `triathlon run` makes some,"
            " --results names others"
        )


def sweep(out: Path) -> None:
    """Removes what killed builds left beside `out`; a site that was set aside comes back if there is none."""
    for left in sorted(out.parent.glob(f".{glob.escape(out.name)}.*"), reverse=True):
        match = _LEFT.fullmatch(left.name.removeprefix(f".{out.name}"))
        if not match or _runs(int(match[1])):
            continue
        if match[2] == "old" and not out.exists() and (left / MARK).exists():
            left.rename(out)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True


def evidence_files(site: Gathered) -> Iterator[File]:
    """Path on the site and file in the cache, for all packs of evidence and downloads of results."""
    slugs = {model: info.slug for model, info in site.models.items()}
    folders = [(file, slugs[file.model]) for file in site.results.files]
    folders += [(file, imported_slug(slugs[file.model])) for file in site.imported_files]
    for file, folder in folders:
        for name in file.extracts.states:
            if name == LINES:
                yield lines_page(folder, file.suite), file.extracts.path(name)
            elif name == INDEX or name.removesuffix(".js").isdecimal():
                yield f"evidence/{folder}/{suite_slug(file.suite)}/{name}", file.extracts.path(name)


def write_site(out: Path, rendering: Rendering, files: Iterable[File] = (), *, processes: int = 1) -> int:
    """Replaces `out` by a rendered site and says how many pages it has.

    All is written to a new folder first: a page that cannot be made leaves `out` as it is. `files`, which are
    there already and read-only, get a second name in the site.

    Raises:
        UserError: `out` holds something else than a site, or cannot be written.
    """
    if out.is_dir() and any(out.iterdir()) and not (out / MARK).exists():
        raise UserError(
            f"--out {str(out)!r} is a folder that no earlier build wrote; name a new or an empty one"
        )
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {str(out)!r} is a file; name a folder")
    out = out.resolve()  # behind a link, its target is replaced, not the link
    draft, old = (out.with_name(f".{out.name}.{os.getpid()}.{kind}") for kind in ("new", "old"))
    environment, evidence = rendering.environment, list(files)
    assets = {path: environment.asset_contents[name] for name, path in environment.assets.items()}
    assets |= {f"assets/{PLOTLY}": plotly_script(), MARK: b""}
    assets[".nojekyll"] = b""  # GitHub Pages: publish the files as they are

    def link_evidence() -> list[str]:
        return [_link(draft, path, source) for path, source in evidence]

    def write_section(number: int) -> list[str]:
        return [_write(draft, page.path, page.bytes) for page in rendering.section(number)]

    jobs: list[Callable[[], list[str]]] = [link_evidence]
    jobs += (partial(write_section, number) for number in range(len(rendering)))
    try:
        draft.mkdir(parents=True)
        shown = [_write(draft, path, content) for path, content in assets.items()]
        with threadpool_limits(1):  # sums in one order give the same bytes everywhere
            pages = list(chain(*run_all(jobs, processes)))
        _check_names([*shown, *pages])
        if out.exists():
            out.rename(old)  # `sweep` puts it back where the process is killed before the next step
        draft.rename(out)
    except OSError as error:
        if old.exists() and not out.exists():
            old.rename(out)
        raise UserError(f"cannot write the site to {str(out)!r} ({error}); pass another --out") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    return len(pages)


def _link(draft: Path, path: str, source: Path) -> str:
    target = draft / path
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except FileExistsError:
        pass  # `_check_names` refuses two files of one name; a copy would go into the cache
    except OSError:  # the cache is on another disk, or this one has no links
        _write(draft, path, source.read_bytes())
    return path


def _write(draft: Path, path: str, content: bytes) -> str:
    target = draft / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return path


def _check_names(names: Iterable[str]) -> None:
    """No page may replace another, on a disk that does not tell upper from lower case either."""
    seen: dict[str, str] = {}
    for name in names:
        key = name.casefold()
        if key in seen:
            raise UserError(
                f"two pages of the site have the same file name, {seen[key]!r} and {name!r}:"
                " rename the model or the suite that one of them is named after"
            )
        seen[key] = name
