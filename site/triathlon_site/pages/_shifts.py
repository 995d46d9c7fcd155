"""How much a score orders models otherwise than its baseline, in sentences."""

from collections.abc import Iterator, Mapping

from triathlon_site.ranking import FAR, shift_summary
from triathlon_site.render import formats


def shift_sentences(
    scores: Mapping[str, float], baseline: Mapping[str, float], titles: tuple[str, str], rule: str = ""
) -> Iterator[str]:
    """A sentence on the rank shifts from the baseline to the score; none for fewer than three models.

    Args:
        scores: by model.
        baseline: by model.
        titles: of the score and of the baseline.
        rule: EVALOOOP's rule, in words, where a tie in one of the two is to be broken by the other; empty:
            ties share a rank.
    """
    summary = shift_summary(scores, baseline, break_ties=bool(rule))
    if summary is None or summary.models < 3:
        return
    yield (
        f"From {titles[1]} to {titles[0]}, {rule or 'ties sharing a rank'}: {summary.moved} of"
        f" {summary.models} models ({100 * summary.moved / summary.models:.1f} %) change places, by"
        f" {summary.mean:.1f} on average, {100 * summary.far:.1f} % by {FAR} or more, from"
        f" {formats.shift(summary.lowest)} to {formats.shift(summary.highest)};"
        f" {100 * summary.reversed_pairs:.1f} % of all pairs are reversed."
    )
