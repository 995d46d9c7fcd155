"""Evidence pages: made while a file is read, laid beside the other pages when the site is written."""

from collections.abc import Iterator, Mapping, Sequence

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence import EvidenceSource, evidence_path, extracts, imported_slug
from triathlon_site.load import FileAggregate
from triathlon_site.pages import Environment, Gathered, ModelInfo, imported_files


class EvidenceExtractor:
    """Turns the records of one file into what pages show of them, as `load.Extractor` asks."""

    def __init__(self, environment: Environment, *, imported: bool = False) -> None:
        self._environment = environment
        self._imported = imported

    @property
    def fingerprint(self) -> str:
        """Imported results have other links on their pages."""
        return f"{self._environment.fingerprint}{' imported' * self._imported}"

    def __call__(
        self, records: Sequence[UnitRecord], model: str, suite: str, parents: Mapping[str, UnitRecord]
    ) -> dict[str, str]:
        source = EvidenceSource(ModelInfo(model, model).slug, model, suite, parents, imported=self._imported)
        return extracts(records, self._environment, source)


def evidence_files(site: Gathered) -> Iterator[tuple[str, str]]:
    """Path on the site and file in the cache, for every page of evidence."""
    for file in site.results.files:
        yield from _pages_of(file, site.models[file.model].slug)
    for file in imported_files(site.imported):
        yield from _pages_of(file, imported_slug(site.models[file.model].slug))


def _pages_of(file: FileAggregate, folder: str) -> Iterator[tuple[str, str]]:
    for name in file.extracts.names:
        number, _, suffix = name.partition(".")
        if number.isdecimal() and suffix == "html":
            yield evidence_path(folder, file.suite, int(number)), file.extracts.path(name)
