"""Which results share a ranking, tiers and tests: those of one protocol without open units."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from triathlon_runner.records import ProtocolHashes, known_protocols
from triathlon_site.load import NO_PROTOCOL, FileAggregate

OTHER_PROTOCOL: Final = "asked or graded under another protocol than those that are ranked"
UNITS_ARE_OPEN: Final = "not ranked while units are open"


def ranking_protocol(suite: str, files: Mapping[str, FileAggregate]) -> ProtocolHashes:
    """Returns the protocol of most models of a suite; of several, the suite's own, else the first by name."""
    counts = Counter(file.protocol for file in files.values() if file.units)
    own = known_protocols().get((suite, ""))
    return max(sorted(counts, key=str), key=lambda each: (counts[each], each == own), default=NO_PROTOCOL)


def of_ranking(suite: str, files: Mapping[str, FileAggregate]) -> dict[str, FileAggregate]:
    """Returns the files, by model, that share the suite's ranking.

    What is missing of a file may be what its model failed: with open units it ranks nowhere.
    """
    protocol = ranking_protocol(suite, files)
    return {
        model: file
        for model, file in files.items()
        if file.units and file.protocol == protocol and not file.open_units
    }
