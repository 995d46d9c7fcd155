"""Figures: what they leave out, what they escape, what must not overlap."""

import re
from dataclasses import replace

import numpy as np

from triathlon_site.figures import (
    Border,
    DotRow,
    Point,
    PricePoint,
    Series,
    TokenPoint,
    arrows,
    bars,
    curve_path,
    curves,
    dots,
    grid,
    price_score,
    radar,
    radar_path,
    scatter,
    score_by_tokens,
)

HOSTILE = '"><script>alert(1)</script>'


def test_a_figure_of_nothing_but_zeros_is_not_drawn() -> None:
    """An empty web or four empty axes tell nothing that the table does not."""
    zeros = (0.0, 0.0, 0.0)
    assert curves("t", [Series("m", zeros)]) == ""
    assert radar("t", ["a", "b", "c"], [Series("m", zeros)]) == ""
    assert dots("t", ["a", "b"], [DotRow("m", (0.0, 0.0))]) == ""
    assert arrows("t", ("a", "b"), [DotRow("m", (0.0, 0.0))]) == ""
    assert bars("t", ["a"], "IC", [DotRow("m", (0.0, 0.0))]) == ""


def test_low_values_fill_the_radar() -> None:
    """The outer ring is 100, or 50, 25, 10 where no value is higher, and says so."""
    for values, end in (((9.0, 3.0, 1.0), 10), ((28.5, 3.0, 1.0), 50), ((51.0, 3.0, 1.0), 100)):
        drawn = radar("t", ["a", "b", "c"], [Series("m", values)])
        assert f">{end} %<" in drawn
        assert f'd="{radar_path([100 * value / end for value in values])}"' in drawn


def test_names_are_text_in_every_figure() -> None:
    """A model's name cannot bring markup in."""
    row = DotRow(HOSTILE, (10.0, 20.0))
    figures = (
        curves(HOSTILE, [Series(HOSTILE, (1.0, 2.0))]),
        radar(HOSTILE, [HOSTILE] * 3, [Series(HOSTILE, (1.0, 2.0, 3.0)), Series(HOSTILE, (1.0, 2.0, 3.0))]),
        dots("t", [HOSTILE, "b"], [row]),
        arrows("t", (HOSTILE, "b"), [row]),
        bars("t", [HOSTILE], HOSTILE, [row]),
        grid(HOSTILE, [HOSTILE], np.array([[1.0, 0.0]])),
        scatter(
            "t", [Point(HOSTILE, 1, 1, label=True)], x_title=HOSTILE, y_title="", x_maximum=2, y_maximum=2
        ),
    )
    for figure in figures:
        assert figure and "<script" not in figure


def test_labels_of_near_points_do_not_overlap() -> None:
    """Each goes where there is room; one without room is left to pointing at it."""
    points = [Point(f"model number {i}", 50 + 0.2 * i, 50, label=True) for i in range(6)]
    figure = scatter("t", points, x_title="", y_title="", x_maximum=100, y_maximum=100)
    found = re.findall(r'class="note" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"', figure)
    boxes = [_box(float(x), float(y), anchor) for x, y, anchor in found]
    assert 2 <= len(boxes) < 6
    for one in range(len(boxes)):
        for other in range(one):
            (a, b, c, d), (e, f, g, h) = boxes[one], boxes[other]
            assert not (a < g and e < c and b < h and f < d)
    assert figure.count("<title>model number") == 6


def test_a_name_is_cut_only_where_the_whole_has_no_room() -> None:
    """Thirty letters stand beside a point with free space around it, and lead to its page."""
    name = "Some-Coder-235B-Instruct-2507x"
    points = [PricePoint(name, "models/some.html", 1, 8), PricePoint("other", "models/other.html", 10, 7)]
    drawn = price_score("Prices", points, y_title="score")
    assert re.search(rf'<a href="models/some.html"><text class="note"[^>]*>{name}</text></a>', drawn)
    longer = [replace(points[0], name="long" * 30), points[1]]
    drawn = price_score("Prices", longer, y_title="score")
    assert re.search(r'<a href="models/some.html"><text class="note"[^>]*>longlong[^<]*…</text></a>', drawn)


def _box(x: float, y: float, anchor: str) -> tuple[float, float, float, float]:
    width = 6.1 * len("model number 0")
    left = {"start": x, "end": x - width, "middle": x - width / 2}[anchor]
    return left, y - 10, left + width, y + 3


def test_a_missing_dimension_opens_the_shape() -> None:
    """No line crosses an axis that a model has no score on."""
    assert radar_path([50.0, 50.0, 50.0]).endswith("Z")
    opened = radar_path([50.0, None, 50.0, 50.0])
    assert not opened.endswith("Z") and opened.count("M") == 1 and opened.count(",") == 3


def test_the_path_of_a_script_is_that_of_the_figure() -> None:
    """Lines that scripts add lie where the build would have drawn them."""
    values = (90.0, 40.0, 10.0)
    assert f'd="{curve_path(values, 3)}"' in curves("t", [Series("m", values)])
    assert f'd="{radar_path(values)}"' in radar("t", ["a", "b", "c"], [Series("m", values)])


def test_the_grid_draws_every_cell_that_was_run() -> None:
    """Solved, in part, failed; one that was not run stays blank."""
    figure = grid("t", ["m"], np.array([[1.0, 1.0, 0.5, 0.0, np.nan]]))
    strokes = {kind: figure.count(f'"cell {kind}"') for kind in ("solved", "partly", "failed")}
    assert strokes == {"solved": 1, "partly": 1, "failed": 1}
    assert len(re.findall(r"h[\d.]+", figure)) == 4


def test_neighbouring_cells_of_a_wide_grid_are_one_stroke() -> None:
    """Cells that are too narrow for a gap: a stroke a run, as long as the run."""
    shares = np.zeros((1, 410))
    shares[0, 100:103] = shares[0, 409] = 1.0
    figure = grid("t", ["m"], shares)
    assert 'class="cell solved" d="M380 29.5h6M998 29.5h2"' in figure
    assert 'class="cell failed" d="M180 29.5h200M386 29.5h612"' in figure


def test_a_border_parts_the_plane_of_a_scatter() -> None:
    """The shaded region holds what lies below the line and is cut at the axes; both regions have a name."""
    border = Border(-20.0, 1.0, "above it", "below it")
    figure = scatter(
        "t", [Point("a", 50, 50)], x_title="", y_title="", x_maximum=100, y_maximum=100, border=border
    )
    (region,) = re.findall(r'class="region" d="M([^Z]*)Z"', str(figure))
    corners = [tuple(map(float, corner.split(","))) for corner in region.split(" ")]
    assert corners == [(44, 316), (104.8, 316), (348, 72.8), (348, 316), (44, 316)]
    assert ">above it<" in figure and ">below it<" in figure


def test_prices_against_scores_name_the_best_at_their_price() -> None:
    """A model that is gone is a cross, a reported score a ring; a far lower score is counted alone."""
    points = [
        PricePoint("cheap", "models/cheap.html", 0.1, 6.5),
        PricePoint("dear", "models/dear.html", 10.0, 8.0, hollow=True),
        PricePoint("gone", "", 1.0, 7.9, gone=True),
        PricePoint("beaten", "", 0.5, 6.0),
        PricePoint("far", "", 0.2, 1.0),
    ]
    drawn = price_score("Prices", points, y_title="score", band=7.5)
    assert drawn.count("<circle") == 3 and drawn.count('class="gone"') == drawn.count('class="hollow"') == 1
    assert "; 1 lower score is left out" in drawn and 'class="band"' in drawn
    assert '<a href="models/dear.html"><text' in drawn.replace("\n", "")


ROWS = [
    TokenPoint("Thinker 8B (low effort)", 180, 0.3, 0.1, 1.0, most=1.4),
    TokenPoint("Thinker 8B (medium effort)", 1400, 0.9, 0.5, 1.8),
    TokenPoint("Thinker 8B (high effort)", 7300, 0.95, 0.5, 1.9),
]


def test_rows_are_named_whole_and_budgets_are_multiples() -> None:
    """Every name stands whole in the figure; the axes end beyond what is drawn, that of tokens as a log."""
    figure = score_by_tokens("t", ROWS, "ASL", 10)
    assert re.findall(r'class="note"[^>]*>([^<]+)<', figure) == [row.name for row in ROWS]
    numbers = re.findall(r'class="tick"[^>]*>([\d.]+k?)<', figure)
    assert numbers == ["100", "200", "500", "1k", "2k", "5k", "10k", "0", "0.5", "1", "1.5", "2"]


def test_names_of_rows_do_not_overlap() -> None:
    """Rows that differ little in tokens and score have their names at different heights."""
    near = [TokenPoint(f"Thinker 8B (effort {number})", 1000 + number, 5, 4, 6) for number in range(4)]
    figure = score_by_tokens("t", near, "ASL", 10)
    heights = re.findall(r'class="note" x="[\d.]+" y="([\d.]+)"', figure)
    assert len(set(heights)) == len(near)


def test_one_budget_and_no_score_can_be_drawn() -> None:
    """Equal tokens, few tokens and scores of 0 have a place, too."""
    figure = score_by_tokens("t", [TokenPoint(name, 0.5, 0, 0, 0) for name in "ab"], "pass@1", 100)
    assert "nan" not in figure and figure.count("<circle") == 2
