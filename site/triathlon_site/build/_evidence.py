"""Evidence pages: made while a file is read, laid beside the other pages when the site is written."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence import EvidenceSource, evidence_path, render_evidence
from triathlon_site.pages import Environment, Gathered, ModelInfo


class EvidencePages:
    """Turns the records of one file into pages, as `load.Evidence` asks."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def fingerprint(self) -> str:
        return self._environment.fingerprint

    def __call__(
        self, records: Sequence[UnitRecord], model: str, suite: str, parents: Mapping[str, UnitRecord]
    ) -> tuple[list[str], list[int]]:
        source = EvidenceSource(ModelInfo(model, model).slug, model, suite, parents)
        return render_evidence(records, self._environment, source)


def evidence_files(site: Gathered) -> Iterator[tuple[str, Path]]:
    """Path on the site and file in the cache, for every page of evidence."""
    for file in site.results.files:
        for page in range(1, file.evidence_pages + 1):
            path = evidence_path(site.models[file.model].slug, file.suite, page)
            yield path, Path(file.evidence) / f"{page}.html"
