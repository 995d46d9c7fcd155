"""Which results share a ranking, tiers and tests: those of one protocol."""

from collections import Counter
from collections.abc import Mapping

from triathlon_runner.records import ProtocolHashes, known_protocols
from triathlon_site.load import NO_PROTOCOL, FileAggregate


def ranking_protocol(suite: str, files: Mapping[str, FileAggregate]) -> ProtocolHashes:
    """Returns the protocol of most models of a suite; of several, the suite's own, else the first by name."""
    counts = Counter(file.protocol for file in files.values() if file.units)
    own = known_protocols().get((suite, ""))
    return max(sorted(counts, key=str), key=lambda each: (counts[each], each == own), default=NO_PROTOCOL)


def of_ranking(suite: str, files: Mapping[str, FileAggregate]) -> dict[str, FileAggregate]:
    """Returns the files, by model, that share the suite's ranking."""
    protocol = ranking_protocol(suite, files)
    return {model: file for model, file in files.items() if file.units and file.protocol == protocol}
