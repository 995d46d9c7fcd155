"""Figures: what they leave out, what they escape, what must not overlap."""

import re
from dataclasses import replace

import numpy as np

from triathlon_site import figures


def test_labels_of_near_points_do_not_overlap() -> None:
    """Each goes where there is room; one without room is left to pointing at it."""
    points = [figures.Point(f"model number {i}", 50 + 0.2 * i, 50, label=True) for i in range(6)]
    figure = figures.scatter("t", points, x_title="", y_title="")
    width = 6.6 * len("model number 0")
    boxes = []
    for x, y, anchor in re.findall(r'class="note" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"', figure):
        left = float(x) - {"start": 0, "end": width, "middle": width / 2}[anchor]
        boxes.append((left, float(y) - 10, left + width, float(y) + 3))
    assert 2 <= len(boxes) < 6
    for one, (a, b, c, d) in enumerate(boxes):
        for e, f, g, h in boxes[:one]:
            assert not (a < g and e < c and b < h and f < d)
    assert figure.count("<title>model number") == 6


def test_labels_stay_within_the_figure_and_off_the_ticks() -> None:
    """Of a letter 6.6 pixels wide: names of points, names below bars, and titles of a radar's axes."""
    name = "Some-Long-Coder-33B-Instruct"
    points = [figures.Point(name, 55, 50, True), figures.Point(name, 50, 0, True)]
    drawn = figures.scatter("t", points, x_title="", y_title="")
    for x, y, anchor in re.findall(r'class="note" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"', drawn):
        right = float(x) + 6.6 * len(name) * {"start": 1, "middle": 0.5, "end": 0}[anchor]
        assert right <= 360 and float(y) <= 320
    rows = [(f"{name}, 4-bit", (10.0, 5.0)), ("b", (20.0, 9.0))]
    drawn = figures.bars("t", ["a"], "IC", rows)
    assert f"</title>{name}, 4-bit</text>" in drawn and '<path class="line' not in drawn
    height = float(re.findall(r'viewBox="0 0 [\d.]+ ([\d.]+)"', drawn)[0])
    (x, y), *_ = re.findall(r'x="([\d.]+)" y="([\d.]+)" text-anchor="end" transform', drawn)
    long = 6.1 * len(f"{name}, 4-bit")
    assert float(x) > 0.78 * long and height - float(y) > 0.61 * long
    axes = ["top (with more)", "runtime pass@5 (CRUXEval, output)", "bottom", "left (and so on)"]
    drawn = figures.radar("t", axes, [figures.Series("m", (1.0, 2.0, 3.0, 4.0))])
    texts = re.findall(r">([^<]+)</text>", drawn)
    assert "(CRUXEval, output)" in texts and all(6.2 * len(text) < 620 / 2 - 134 for text in texts)


def test_a_name_is_cut_only_where_the_whole_has_no_room() -> None:
    """Thirty letters stand beside a point with free space around it, and lead to its page."""
    name = "Some-Coder-235B-Instruct-2507x"
    points = [figures.PricePoint(name, "models/some.html", 1, 8), figures.PricePoint("other", "", 10, 7)]
    longer = [replace(points[0], name="long" * 30), points[1]]
    for own, shown in ((points, name), (longer, "longlong[^<]*…")):
        drawn = figures.price_score("Prices", own, y_title="score")
        assert re.search(rf'<a href="models/some.html"><text class="note"[^>]*>{shown}</text></a>', drawn)


def test_the_grid_draws_every_cell_that_was_run() -> None:
    """Solved, in part, failed; one that was not run stays blank. Of narrow cells a run is one stroke."""
    figure = figures.grid("t", ["m"], np.array([[1.0, 1.0, 0.5, 0.0, np.nan]]))
    strokes = {kind: figure.count(f'"cell {kind}"') for kind in ("solved", "partly", "failed")}
    assert strokes == {"solved": 1, "partly": 1, "failed": 1}
    assert len(re.findall(r"h[\d.]+", figure)) == 4
    shares = np.zeros((1, 410))
    shares[0, 100:103] = shares[0, 409] = 1.0
    figure = figures.grid("t", ["m"], shares)
    assert 'class="cell solved" d="M380 29.5h6M998 29.5h2"' in figure
    assert 'class="cell failed" d="M180 29.5h200M386 29.5h612"' in figure


def test_prices_against_scores_name_the_best_at_their_price() -> None:
    """A model that is gone is a cross, a reported score a ring; a far lower score is counted alone."""
    points = [
        figures.PricePoint("cheap", "models/cheap.html", 0.1, 6.5),
        figures.PricePoint("dear", "models/dear.html", 10.0, 8.0, hollow=True),
        figures.PricePoint("gone", "", 1.0, 7.9, gone=True),
        figures.PricePoint("beaten", "", 0.5, 6.0),
        figures.PricePoint("far", "", 0.2, 1.0),
    ]
    drawn = figures.price_score("Prices", points, y_title="score", band=7.5)
    assert drawn.count("<circle") == 3 and drawn.count('class="gone"') == drawn.count('class="hollow"') == 1
    assert "; 1 lower score is left out" in drawn and 'class="band"' in drawn
    assert '<a href="models/dear.html"><text' in drawn.replace("\n", "")
