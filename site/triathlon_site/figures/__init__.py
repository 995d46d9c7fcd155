"""Figures as static SVG: they work without JavaScript, from a file, in print, in the page's colours."""

from triathlon_site.figures._base import PALETTE
from triathlon_site.figures._lines import (
    CURVES_LAYOUT,
    FEWEST_AXES,
    PLOTLY,
    RADAR_LAYOUT,
    Series,
    curves,
    interactive_curve,
    interactive_radar,
    plotly_script,
    plotly_styles,
    radar,
    radar_path,
)
from triathlon_site.figures._planes import Point, PricePoint, price_score, round_ticks, scatter
from triathlon_site.figures._rows import arrows, badge, bars, grid
