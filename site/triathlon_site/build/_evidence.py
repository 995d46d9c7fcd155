"""Evidence pages: made while a file is read, laid beside the other pages when the site is written."""

from collections.abc import Iterator, Mapping, Sequence

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence import EvidenceSource, evidence_path, extracts
from triathlon_site.pages import Environment, Gathered, ModelInfo


class EvidenceExtractor:
    """Turns the records of one file into what pages show of them, as `load.Extractor` asks."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def fingerprint(self) -> str:
        return self._environment.fingerprint

    def __call__(
        self, records: Sequence[UnitRecord], model: str, suite: str, parents: Mapping[str, UnitRecord]
    ) -> dict[str, str]:
        source = EvidenceSource(ModelInfo(model, model).slug, model, suite, parents)
        return extracts(records, self._environment, source)


def evidence_files(site: Gathered) -> Iterator[tuple[str, str]]:
    """Path on the site and file in the cache, for every page of evidence."""
    for file in site.results.files:
        slug = site.models[file.model].slug
        for name in file.extracts.names:
            number, _, suffix = name.partition(".")
            if number.isdecimal() and suffix == "html":
                yield evidence_path(slug, file.suite, int(number)), file.extracts.path(name)
