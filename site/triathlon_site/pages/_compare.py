"""The page that sets models side by side."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from triathlon_site.figures import curves_frame, radar_frame
from triathlon_site.pages._compare_data import axis_title, longest_curve
from triathlon_site.pages._models import ModelInfo
from triathlon_site.pages._neighbours import model_pairs
from triathlon_site.pages._page import Draft
from triathlon_site.pages._profile import dimensions
from triathlon_site.pages._sections import Figure
from triathlon_site.scores import Board, Overall


def draft(
    boards: Sequence[Board],
    overalls: Mapping[str, Overall],
    models: Mapping[str, ModelInfo],
    plotly: str,
    plotly_styles: Sequence[str],
) -> Draft:
    """Neighbours in rank as a table; empty figures, to which scripts add the lines of the chosen models."""
    steps = longest_curve(boards)
    frames = [
        Figure(
            curves_frame("Degradation curves", steps, x_title="loop") if steps > 1 else Markup(""),
            "Tasks that still pass in each loop, in per cent.",
        ),
        Figure(
            radar_frame(
                "All dimensions", [axis_title(board, column) for board, column in dimensions(boards)]
            ),
            "All dimensions, each axis from 0 in the centre to its maximum.",
        ),
    ]
    context = {
        "plotly": plotly,
        "plotly_styles": " ".join(plotly_styles),
        "frames": [frame for frame in frames if frame.svg],
        "neighbours": [
            (family, overall.boards, pairs)
            for family, overall in overalls.items()
            if (pairs := list(model_pairs(overall, models)))
        ],
    }
    return Draft("compare.html", "compare", context)
