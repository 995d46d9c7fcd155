"""The pages of evidence, which lie in the cache since their file was read."""

from collections.abc import Iterator
from pathlib import Path

from triathlon_site.evidence import evidence_path, imported_slug
from triathlon_site.load import FileAggregate
from triathlon_site.pages import Gathered, imported_files


def evidence_files(site: Gathered) -> Iterator[tuple[str, Path]]:
    """Path on the site and file in the cache, for every page of evidence."""
    for file in site.results.files:
        yield from _pages_of(file, site.models[file.model].slug)
    for file in imported_files(site.imported):
        yield from _pages_of(file, imported_slug(site.models[file.model].slug))


def _pages_of(file: FileAggregate, folder: str) -> Iterator[tuple[str, Path]]:
    for name in file.extracts.sizes:
        number, _, suffix = name.partition(".")
        if number.isdecimal() and suffix == "html":
            yield evidence_path(folder, file.suite, int(number)), file.extracts.path(name)
