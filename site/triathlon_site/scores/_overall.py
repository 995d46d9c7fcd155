"""What is said over several boards: the order over all disciplines, rank shifts, and variants of suites."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from triathlon_runner.metrics import Metric
from triathlon_runner.suites import SuiteEntry
from triathlon_site.ranking import (
    FEWEST_RANKED,
    DrawnRanks,
    Rank,
    Score,
    better_in_draws,
    drawn_ranks,
    percentiles,
    rank_shifts,
    ranks,
    ranks_among,
)
from triathlon_site.scores._boards import sample_of
from triathlon_site.scores._ranked_board import Board, ColumnScores, known_share
from triathlon_site.uncertainty import Difference, paired_difference, rounded


def with_baselines(boards: Sequence[Board]) -> tuple[Board, ...]:
    """Each board as it is, or with shifts against the first pass@1 of its family of data."""
    return tuple(board if _baseline(board) else _shifted(board, boards) for board in boards)


def _baseline(board: Board) -> ColumnScores | None:
    return next((column for column in board.columns if column.column.role == "baseline"), None)


def _shifted(board: Board, boards: Sequence[Board]) -> Board:
    family = [source for source in boards if source.plan.family == board.plan.family]
    source = next(filter(_baseline, family), None)
    baseline = source and _baseline(source)
    if not source or not baseline:
        return board
    models, headline, ranked = sorted(board.models), board.headline, baseline.ranked
    if sorted(source.models) != models:  # models that are not on the source's board come last
        ends = [pd.DataFrame(-end, columns=sorted(source.models)).reindex(columns=models) for end in ranked]
        ranked = drawn_ranks(ends[1].to_numpy(float), ends[0].to_numpy(float))
    shifts = rank_shifts(headline.values(models), headline.ranked, baseline.values(models), ranked)
    scores = {
        model: replace(headline.scores[model], shift=shift)
        for model, shift in zip(models, shifts, strict=True)
        if model in headline.scores
    }
    columns = tuple(replace(c, scores=scores) if c is headline else c for c in board.columns)
    return replace(board, columns=columns, baseline=f"{source.plan.discipline} {baseline.column.title}")


@dataclass(frozen=True, slots=True)
class OverallRow:
    """One model over the disciplines."""

    model: str
    scores: tuple[Score | None, ...]
    """The headline score in each discipline."""
    percentiles: tuple[float | None, ...]
    rank: Rank | None = None
    """None where a discipline is missing, or too few models have them all; then percentiles are None, too."""
    percentile: float | None = None
    """Mean of the percentiles in the disciplines, 0 to 100."""


@dataclass(frozen=True, slots=True)
class Overall:
    boards: tuple[Board, ...]
    rows: tuple[OverallRow, ...]


def overall(boards: Sequence[Board]) -> Overall:
    """Models with a result in every discipline are ordered, and where they are enough ranked, by the mean of
    their percentiles.

    The others follow: those of most disciplines first, then the better known scores.
    """
    models = sorted({model for board in boards for model in board.models})
    scores = {m: tuple(board.headline.scores.get(m) for board in boards) for m in models}
    complete = [model for model in models if all(scores[model])]

    def known_first(model: str) -> tuple[int, float, str]:
        known = [board.headline for board in boards if model in board.headline.scores]
        return -len(known), -known_share(model, known), model

    others = sorted(set(models) - set(complete), key=known_first)
    unranked = {model: OverallRow(model, scores[model], (None,) * len(boards)) for model in models}
    after = [unranked[model] for model in others]
    if not complete:
        return Overall(tuple(boards), tuple(after))
    shares = np.array([percentiles(board.headline.values(complete)) for board in boards]).T
    means = rounded(shares.mean(axis=1))
    drawn = []
    for board in boards:  # its ranks among the complete models, which are in the order of their names
        chosen = np.isin(sorted(board.models), complete)
        best, worst = ranks_among(board.headline.ranked, chosen)
        drawn.append(DrawnRanks(best[:, chosen], worst[:, chosen]))
    best, worst = (-np.mean([ends[end] for ends in drawn], axis=0) for end in (0, 1))
    overall_ranks = ranks(means, better_in_draws(worst, best))
    rows = [
        OverallRow(
            model,
            scores[model],
            tuple(shares[place].tolist()),
            overall_ranks[place],
            float(means[place]),
        )
        for place, model in enumerate(complete)
    ]
    rows.sort(key=lambda row: (row.rank.rank if row.rank else len(rows), row.model))
    if len(rows) < FEWEST_RANKED:
        rows = [unranked[row.model] for row in rows]
    return Overall(tuple(boards), (*rows, *after))


def variants_of(board: Board, *kinds: str) -> list[SuiteEntry]:
    """Suites that somebody ran beside those of a board, the same tasks under one other setting.

    Of these kinds those with models of the board; of all where none is named, in the catalogue's order.
    """
    return [
        entry
        for entry in board.plan.variants
        if entry.id in board.variants
        and (not kinds or (entry.variant_kind in kinds and board.of_suite(entry.id)))
    ]


def variant_title(variant: SuiteEntry) -> str:
    """`detailed` of `loop/core@prompt-detailed`; `cot` of `runtime/core@cot`."""
    return variant.id.partition("@")[2].removeprefix(f"{(variant.variant_kind or '').removesuffix('s')}-")


def variant_differences(board: Board, variant: SuiteEntry, metric: Metric) -> dict[str, Difference]:
    """Variant minus plain for each model that has both, on the tasks that both have."""
    plain_id = variant.variant_of or ""
    plain, varied = board.of_suite(plain_id), board.of_suite(variant.id)
    models = [model for model in plain if model in varied]
    rows = {f"{name} {m}": of[m] for name, of in (("plain", plain), ("varied", varied)) for m in models}
    sample = sample_of(plain_id, metric, rows, list(rows))
    pairs = ((model, paired_difference(sample, len(models) + row, row)) for row, model in enumerate(models))
    return {model: difference for model, difference in pairs if difference}
