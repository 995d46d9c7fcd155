"""One function in the five languages of the translation loop, right in all of them."""

import re
from typing import Any, Final

from triathlon_runner.sandbox import Language
from triathlon_runner.translation import CoreTask

TALLY: Final = {
    Language.PYTHON: """def tally(words, least):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    kept = {word: count for word, count in counts.items() if count >= least}
    return [kept, bool(kept), len(words) / 2, "x" * least, None]
""",
    Language.PHP: """<?php
function tally($words, $least) {
    $counts = [];
    foreach ($words as $word) {
        $counts[$word] = ($counts[$word] ?? 0) + 1;
    }
    $kept = array_filter($counts, fn($count) => $count >= $least);
    return [$kept, count($kept) > 0, count($words) / 2, str_repeat("x", $least), null];
}
""",
    Language.RUBY: """def tally(words, least)
  kept = words.tally.select { |_, count| count >= least }
  [kept, !kept.empty?, words.length / 2.0, "x" * least, nil]
end
""",
    Language.JAVASCRIPT: """const tally = (words, least) => {
    const counts = {};
    for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
    const kept = Object.fromEntries(Object.entries(counts).filter(([, count]) => count >= least));
    return [kept, Object.keys(kept).length > 0, words.length / 2, "x".repeat(least), undefined];
};
""",
    Language.PERL: """use strict;
sub tally {
    my ($words, $least) = @_;
    my %counts;
    $counts{$_}++ for @$words;
    my %kept = map { $_ => $counts{$_} } grep { $counts{$_} >= $least } keys %counts;
    return [\\%kept, (%kept ? 1 : 0), @$words / 2, "x" x $least, undef];
}
1;
""",
}
CASES: Final[tuple[tuple[tuple[Any, ...], Any], ...]] = (
    ((["a", "b", "a"], 2), [{"a": 2}, True, 1.5, "xx", None]),
    ((["a", "b"], 2), [{}, False, 1.0, "xx", None]),
    (([], 0), [{}, False, 0.0, "", None]),
    ((["1", "é", "1", "é"], 1), [{"1": 2, "é": 2}, True, 2.0, "x", None]),
)
TASK: Final = CoreTask("t/tally", 3, TALLY[Language.PYTHON], "tally", ("words", "least"), CASES)


def target_of(text: str) -> Language:
    """The language that a question of our built-in prompts asks for."""
    titles = {language.value.upper(): language for language in Language}
    asked = re.search(r"program below into (\w+)\.", text)
    assert asked is not None, text
    return titles[asked[1].upper()]
