"""Evidence pages: made while a file is read, laid beside the other pages when the site is written."""

from collections.abc import Iterator, Mapping, Sequence

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence import LINKS, EvidenceSource, evidence_path, extracts, imported_slug
from triathlon_site.load import FileAggregate
from triathlon_site.pages import Environment, Gathered, ModelInfo, imported_files, spelt_out


class EvidenceExtractor:
    """Turns the records of one file into what pages show of them, as `load.Extractor` asks."""

    def __init__(self, environment: Environment, names: Mapping[str, str], *, imported: bool = False) -> None:
        """`names`: of the models, by id; one that is not there is called by its id."""
        self._environment, self._names = environment, names
        self._imported = imported

    def fingerprint(self, model: str) -> str:
        """Imported results have other links on their pages."""
        kind = "imported" if self._imported else "measured"
        return f"{self._environment.fingerprint} {kind} {self._name(model)}"

    def _name(self, model: str) -> str:
        return self._names.get(model, model)

    def __call__(
        self, records: Sequence[UnitRecord], model: str, suite: str, parents: Mapping[str, UnitRecord]
    ) -> dict[str, str]:
        slug, name = ModelInfo(model, model).slug, self._name(model)
        source = EvidenceSource(slug, name, suite, parents, imported=self._imported)
        found = extracts(records, self._environment, source)
        return found | {LINKS: spelt_out(found[LINKS])}  # what goes onto pages as it lies there


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
