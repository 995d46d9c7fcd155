"""Evidence pages, made while a file is read: laid beside the other pages when the site is written."""

from collections.abc import Mapping, Sequence

from triathlon_runner.records import UnitRecord
from triathlon_site.evidence._pages import EvidenceSource, extracts, model_slug
from triathlon_site.render import Environment


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
        self,
        records: Sequence[UnitRecord],
        model: str,
        suite: str,
        parents: Mapping[str, UnitRecord],
        *,
        private: bool = False,
    ) -> dict[str, str]:
        name = self._name(model)
        source = EvidenceSource(model_slug(model), name, suite, parents, imported=self._imported)
        return extracts(records, self._environment, source, private=private)
