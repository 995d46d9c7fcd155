"""Every model × column with score, interval, rank and tier: what pages and `triathlon scores` show."""

from triathlon_site.scores._boards import (
    FAMILIES,
    Column,
    plan_boards,
    sample_of,
    seeds_of,
    set_title,
    task_scores,
)
from triathlon_site.scores._overall import (
    Overall,
    OverallRow,
    overall,
    variant_differences,
    variant_title,
    variants_of,
    with_baselines,
)
from triathlon_site.scores._ranked_board import (
    Board,
    ColumnScores,
    first_boards,
    known_share,
    part_run,
    score_board,
)
