"""Choosing what is exported, and writing it into a new folder."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triathlon_runner.catalogue import BUILT_IN, Catalogue
from triathlon_runner.errors import UserError
from triathlon_runner.registry import check_names
from triathlon_site.exchange._formats import EXPORTS
from triathlon_site.exchange._source import Source, sources_of
from triathlon_site.wanted import Wanted

if TYPE_CHECKING:  # the pages import this package for what the site itself offers
    from triathlon_site.pages import Gathered


@dataclass(frozen=True)
class Exported:
    """What an export wrote and what it left out."""

    files: int
    sources: int
    """Results files that something was written of."""
    left_out: Mapping[str, str]
    """Results files that this format cannot hold, and why."""


def write_export(
    name: str,
    site: "Gathered",
    root: Path,
    out: Path,
    wanted: Wanted | None = None,
    *,
    known: Catalogue = BUILT_IN,
) -> Exported:
    """Writes results in another program's format. The same results give the same bytes.

    Args:
        name: one of `EXPORTS`.
        site: the results with their scores, as `triathlon_site.build.gather` returns them.
        root: the results folder that they were read from.
        out: a folder that is new or empty.
        wanted: left out, all results.
        known: the suites that there are.

    Raises:
        UserError: an unknown name, an `out` with something in it, or nothing to export.
    """
    check_names([name], list(EXPORTS), what="format")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"expected a new or empty folder at --out, got {str(out)!r}; name another")
    sources = _sources(site, root, wanted or Wanted(), known)
    left_out: dict[str, str] = {}
    written = exported = 0
    for source in sources:
        fault = EXPORTS[name].fault(source)
        if fault:
            left_out[source.file.file] = fault
            continue
        files = [(out / path, content) for path, content in EXPORTS[name].files(source)]
        if taken := [target for target, _ in files if target.exists()]:
            left_out[source.file.file] = (
                f"another model's file has its name, {str(taken[0])!r}: one link, two rows"
            )
            continue
        exported += 1
        for target, content in files:
            target.parent.mkdir(parents=True, exist_ok=True)
            _write(target, content)
            written += 1
    return Exported(written, exported, left_out)


def _write(target: Path, content: str | bytes | Iterable[str]) -> None:
    if isinstance(content, bytes):
        target.write_bytes(content)
        return
    with target.open("w", encoding="utf-8") as file:
        file.writelines([content] if isinstance(content, str) else content)


def _sources(site: "Gathered", root: Path, wanted: Wanted, known: Catalogue) -> list[Source]:
    files = [file for file in site.results.files if file.units and file.manifest]
    if not files:
        raise UserError(f"no results to export in {str(root)!r}; `triathlon run` makes some")
    wanted.check((file.model for file in files), (file.suite for file in files))
    chosen = (file for file in files if wanted.includes(file.model, [file.suite]))
    return sources_of(chosen, site.boards, site.models, known.find, root, site.url)
