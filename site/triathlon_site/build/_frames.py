"""The site's numbers as DataFrames, for whoever computes with them."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from triathlon_runner.registry import Registry
from triathlon_site.agreement import matrix
from triathlon_site.build._gather import gather
from triathlon_site.exports import score_frame
from triathlon_site.load import Results
from triathlon_site.pages import reported_by_board


@dataclass(frozen=True, eq=False)
class Frames:
    """What the site shows, before it is a page."""

    units: dict[str, pd.DataFrame]
    """By suite, a row a unit: model, task, sample, outcome, each metric over it alone, usage, seconds."""
    scores: pd.DataFrame
    """A row a board, model and column: score, interval, rank; the columns of `data/<board>.csv`."""
    agreement: pd.DataFrame
    """(board, column) × (board, column): Spearman's rho of the scores over the models that have both."""
    published: dict[str, pd.DataFrame]
    """By table, what others published: texts, as the CSV files in `results/published/` have them."""


def frames(results: Path | str, registry: Registry | None = None, *, cache: Path | None = None) -> Frames:
    """Reads and scores a folder of results, and returns the numbers of its site as DataFrames.

    Args:
        results: the folder of results.
        registry: what is known of the models, for their names.
        cache: where is kept what was read; left out, every results file is read.

    Raises:
        UserError: there is no such folder, or what is in it cannot be read.
    """
    site = gather(Path(results), registry, cache=cache)
    scores = score_frame(site.boards, site.models, reported_by_board(site))
    published = site.published.tables if site.published else {}
    return Frames(
        units=_units(site.results),
        scores=scores,
        agreement=_agreement(scores),
        published={name: pd.DataFrame(rows) for name, rows in published.items()},
    )


def _agreement(scores: pd.DataFrame) -> pd.DataFrame:
    if scores.empty:
        return pd.DataFrame()
    ranked = scores[scores["rank"].notna()]
    return matrix(ranked.pivot(index="model", columns=["board", "column"], values="score"), "spearman")


def _units(results: Results) -> dict[str, pd.DataFrame]:
    suites: dict[str, list[pd.DataFrame]] = {}
    for file in results.files:
        if file.units:
            frame = file.frame.copy()
            frame.insert(0, "model", file.model)
            suites.setdefault(file.suite, []).append(frame)
    return {suite: pd.concat(frames, ignore_index=True) for suite, frames in suites.items()}
