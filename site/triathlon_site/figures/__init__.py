"""Figures as static SVG: they work without JavaScript, from a file, in print, in the page's colours."""

from triathlon_site.figures._badge import badge
from triathlon_site.figures._bars import bars
from triathlon_site.figures._degradation_curve import (
    Series,
    curve_path,
    curves,
    curves_frame,
    interactive_curve,
    interactive_curves_layout,
)
from triathlon_site.figures._grid import grid
from triathlon_site.figures._pairs import Axis, interactive_pair_scatter, pair_scatter
from triathlon_site.figures._plotly import (
    PLOTLY,
    plotly_script,
    plotly_styles,
)
from triathlon_site.figures._price_score import PricePoint, price_score
from triathlon_site.figures._radar import (
    FEWEST_AXES,
    interactive_radar,
    interactive_radar_layout,
    radar,
    radar_frame,
    radar_path,
)
from triathlon_site.figures._rank_shift import RankLine, rank_shift
from triathlon_site.figures._rows import DotRow, arrows, dots
from triathlon_site.figures._scatter import Border, Point, scatter
from triathlon_site.figures._score_by_tokens import TokenPoint, score_by_tokens
from triathlon_site.figures._template import PALETTE, round_ticks

__all__ = [
    "FEWEST_AXES",
    "PALETTE",
    "PLOTLY",
    "Axis",
    "Border",
    "DotRow",
    "Point",
    "PricePoint",
    "RankLine",
    "Series",
    "TokenPoint",
    "arrows",
    "badge",
    "bars",
    "curve_path",
    "curves",
    "curves_frame",
    "dots",
    "grid",
    "interactive_curve",
    "interactive_curves_layout",
    "interactive_pair_scatter",
    "interactive_radar",
    "interactive_radar_layout",
    "pair_scatter",
    "plotly_script",
    "plotly_styles",
    "price_score",
    "radar",
    "radar_frame",
    "radar_path",
    "rank_shift",
    "round_ticks",
    "scatter",
    "score_by_tokens",
]
