"""The build: gather everything, check it, then write a new folder, which takes the place of the old one."""

import gc
import glob
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final

from threadpoolctl import threadpool_limits

from triathlon_runner import cache as runner_cache
from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import Registry
from triathlon_runner.records import RECORDED, Strict
from triathlon_runner.store import IMPORTED, ResultsFolder
from triathlon_runner.terminal import counted
from triathlon_runner.unit_pages import lines_page, suite_slug
from triathlon_site.build._gather import gather
from triathlon_site.evidence import INDEX, LINES, imported_slug
from triathlon_site.figures import PLOTLY, plotly_script
from triathlon_site.history import HISTORY_FILE, write_history
from triathlon_site.load import AggregateCache, Notice
from triathlon_site.pages import Gathered, Rendering, imported_files
from triathlon_site.render import Environment, installed_environment
from triathlon_site.workers import PROCESSES, run_all

WORTH_A_PROCESS: Final = 20_000
"""Units of results below which starting more processes takes longer than rendering."""
OBJECTS_A_COLLECTION: Final = 100_000
"""Between two looks for garbage in cycles: a build makes many objects, and hardly any in cycles."""


@dataclass(frozen=True)
class Options:
    """How a site is built."""

    strict: bool = False
    """Whether any fault in the results ends the build."""
    history: bool = False
    """Whether `history.json` is brought up to date, so that the next build says what changed since."""
    url: str = ""
    """Where the site will be published, for the addresses in the feed."""
    docs: str = ""
    """Where the docs will be, seen from the front page; every page then links to them."""
    as_of: str = ""
    """The day that decides which models can be used; left out, the newest one in facts and results."""


class BuildReport(Strict):
    """What a build did."""

    pages: int
    models: int
    units: int
    imported_units: int
    seconds: float
    notices: tuple[Notice, ...]


def build(
    results: Path,
    out: Path,
    registry: Registry | None,
    options: Options | None = None,
    *,
    known: Catalogue = BUILT_IN,
    cache: Path | None = None,
) -> BuildReport:
    """Writes the site of these results to `out`, whole or not at all.

    Args:
        results: the folder of results; nothing is written into it but, where that is asked, `history.json`.
        out: the folder of the site.
        registry: what is known of the models.
        options: left out, the defaults.
        known: all suites that there are: the built-in ones and those of a suites.yaml.
        cache: where is kept what was read; left out, every results file is read.

    Raises:
        UserError: an address is none, or a day; where faults end the build, there is something to warn of, or
            nothing to show; `out` cannot be written or is no site, or the results lie in it or it among them.
    """
    started = time.monotonic()
    check_apart(results, out)
    options = options or Options()
    options = replace(options, url=checked_url(options.url), as_of=checked_day(options.as_of))
    sweep(out.resolve())
    gc.set_threshold(OBJECTS_A_COLLECTION)
    with tempfile.TemporaryDirectory() as temporary:
        site, pages = _write_results(results, out, registry, options, known, cache or Path(temporary))
    return BuildReport(
        pages=pages,
        models=len(site.results.models),
        units=site.units,
        imported_units=sum(file.units for file in imported_files(site.imported)),
        seconds=time.monotonic() - started,
        notices=(*site.notices, *(_write_history(results, site) if options.history else ())),
    )


def _write_results(
    results: Path, out: Path, registry: Registry | None, options: Options, known: Catalogue, cache: Path
) -> tuple[Gathered, int]:
    """Gathers, checks and writes the site; returns it and the number of its files."""
    gathered = gather(results, registry, known=known, cache=cache, as_of=options.as_of)
    site = replace(gathered, url=options.url, docs=options.docs)
    if options.strict and site.notices:
        raise _not_flawless(results, site.notices)
    if not site.units:
        check_empty(results, out, strict=options.strict and not site.imported)
    processes = PROCESSES if site.units >= WORTH_A_PROCESS else 1
    rendering = Rendering(site, installed_environment())
    pages = write_site(out, rendering, evidence_files(site), processes=processes)
    AggregateCache(cache).prune()
    return site, pages


def _not_flawless(results: Path, notices: Sequence[Notice]) -> UserError:
    lines = [notice.below(results) for notice in notices]
    lines += filter(None, [about_commands(results, notices)])
    return UserError(
        f"--strict: expected flawless results, found {counted(len(notices), 'fault')}; no page was written."
        " Lines that are said to count do so in a build without --strict:\n" + "\n".join(lines)
    )


def about_commands(results: Path, notices: Sequence[Notice]) -> str:
    """A line below notices whose commands are for the default folder; empty where it says nothing new."""
    option = ResultsFolder(results).option
    names_command = any(  # `submit` takes a model's folder, not --results
        "`triathlon " in notice.message.replace("`triathlon submit", "") for notice in notices
    )
    return f"commands named above need{option}, too" if option and names_command else ""


def checked_url(url: str) -> str:
    """With a slash at its end, so that a page's path can follow.

    Raises:
        UserError: it is no web address.
    """
    if url and not url.startswith(("https://", "http://")):
        raise UserError(f"expected the site's address, such as 'https://example.org/board/', got {url!r}")
    return url if not url or url.endswith("/") else f"{url}/"


def checked_day(day: str) -> str:
    """The day as it came, empty or such as `2026-11-26`.

    Raises:
        UserError: it is no day.
    """
    try:
        date.fromisoformat(day or "2026-11-26")
    except ValueError:
        raise UserError(
            f"expected a day for --as-of, such as '2026-11-26', got {day!r}; correct it or leave it out"
        ) from None
    return day


def cache_folder() -> Path:
    """Where aggregates are kept between builds."""
    return runner_cache.cache_folder() / "site"


def _write_history(results: Path, site: Gathered) -> list[Notice]:
    """Writes the build's ranks beside the results, so that the next build can say what moved."""
    try:
        if site.boards:
            write_history(results, site.history)
    except (OSError, UserError) as error:
        return [Notice(file=HISTORY_FILE, message=f"cannot be written ({error}): the site is complete")]
    return []


MARK: Final = ".triathlon-site"
"""Stands in every folder that we wrote: only such a folder, or an empty one, is ever replaced."""
MODELS: Final = "models"
"""Folder of a site with a page for each model; one without results has none."""
READ: Final = ("runs", "published", "archive", IMPORTED, RECORDED)
"""Folders among the results that builds read."""
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
    folders += [(file, imported_slug(slugs[file.model])) for file in imported_files(site.imported)]
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
    sections = [partial(_write_section, draft, rendering, number) for number in range(len(rendering))]
    try:
        draft.mkdir(parents=True)
        assets = _write_assets(draft, rendering.environment)
        with threadpool_limits(1):  # sums in one order give the same bytes everywhere
            pages = list(chain(*run_all([partial(_link, draft, list(files)), *sections], processes)))
        _check_names([*assets, *pages])
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


def _write_section(draft: Path, rendering: Rendering, number: int) -> list[str]:
    return [_write(draft, page.path, page.bytes) for page in rendering.section(number)]


def _link(draft: Path, files: Sequence[File]) -> list[str]:
    for path, source in files:
        target = draft / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            target.hardlink_to(source)
        except FileExistsError:
            continue  # `_check_names` refuses two files of one name; a copy would go into the cache
        except OSError:  # the cache is on another disk, or this one has no links
            _write(draft, path, source.read_bytes())
    return [path for path, _ in files]


def _write_assets(draft: Path, environment: Environment) -> list[str]:
    """Writes what pages are shown with and returns the paths."""
    assets = {path: environment.asset_contents[name] for name, path in environment.assets.items()}
    assets |= {f"assets/{PLOTLY}": plotly_script(), MARK: b""}
    assets[".nojekyll"] = b""  # GitHub Pages: publish the files as they are
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
