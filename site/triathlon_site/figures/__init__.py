"""Figures as static SVG: they work without JavaScript, from a file, in print, in the page's colours."""

from triathlon_site.figures._base import PALETTE, round_ticks
from triathlon_site.figures._lines import (
    CURVES_LAYOUT,
    FEWEST_AXES,
    PLOTLY,
    RADAR_LAYOUT,
    Series,
    curve_path,
    curves,
    curves_frame,
    interactive_curve,
    interactive_radar,
    plotly_script,
    plotly_styles,
    radar,
    radar_frame,
    radar_path,
)
from triathlon_site.figures._planes import (
    Border,
    Point,
    PricePoint,
    TokenPoint,
    price_score,
    scatter,
    score_by_tokens,
)
from triathlon_site.figures._rows import DotRow, RankLine, arrows, badge, bars, dots, grid, rank_shift
