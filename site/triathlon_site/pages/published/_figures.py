"""The figures of the published rankings."""

from typing import Final

from triathlon_site import analysis
from triathlon_site.figures import DotRow, Point, Series, arrows, curves, dots, radar, scatter
from triathlon_site.pages.board.evolved import far_below, region_border
from triathlon_site.pages.published._tables import rows_of
from triathlon_site.published import PublishedBoard
from triathlon_site.render import Figure

SHOWN: Final = 5
SETS: Final = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use")
AGAINST: Final = {
    "evalplus": (
        "MBPP+ against HumanEval+",
        ("humaneval_plus", "HumanEval+"),
        ("mbpp_plus", "MBPP+"),
        "Two plain benchmarks agree: what the three disciplines add is elsewhere.",
    ),
    "cruxeval": (
        "Output prediction against input prediction",
        ("input", "Input pass@1"),
        ("output", "Output pass@1"),
        "Saying what a program returns, and finding what makes it return that.",
    ),
}
"""By ranking: a title, two columns with their titles, and a caption."""
QUESTIONS: Final = ("coverage", "state", "path", "output")


def published_figures(board: PublishedBoard) -> list[Figure]:
    """The figures of this ranking; none where no figure is defined for it."""
    make = {
        "evaloop": _evaloop_figures,
        "reval": _reval_figures,
        "evoeval": _evoeval_figures,
    }.get(board.id, _against)
    return make(board)


def _evaloop_figures(board: PublishedBoard) -> list[Figure]:
    with_curve = [row for row in board.rows if row.curve]
    series = [Series(row.name, row.curve, muted=position >= SHOWN) for position, row in enumerate(with_curve)]
    plot = scatter(
        "ASL against pass@1",
        [Point(row.name, 100 * row.scores["pass_at_1"].value, row.scores["asl"].value) for row in board.rows],
        x_title="pass@1",
        y_title="ASL",
        y_maximum=10,
    )
    return [
        Figure(
            curves("Share of tasks that still pass after each loop", series),
            f"Tasks that still pass in each loop, in per cent: the {SHOWN} best of {len(with_curve)} models"
            " with published curves, the others in grey.",
        ),
        Figure(
            plot,
            "Solving a task once is not keeping it solved: models of equal pass@1 differ by several loops.",
        ),
    ]


def _reval_figures(board: PublishedBoard) -> list[Figure]:
    rows = [DotRow(row.name, tuple(row.value(name) for name in (*QUESTIONS, "ic"))) for row in board.rows]
    return [
        Figure(
            dots("The four questions and IC", (*QUESTIONS, "IC"), rows),
            "Accuracy in the four questions, in per cent, and IC: single answers are not a chain of them.",
        )
    ]


def _evoeval_figures(board: PublishedBoard) -> list[Figure]:
    axes = [column for column in board.columns if column.id in SETS]
    series = [
        Series(row.name, tuple(row.scores[axis.id].value for axis in axes)) for row in board.rows[:SHOWN]
    ]
    values = rows_of(board)
    placed = analysis.regions(analysis.column(values, "humaneval_plus"), analysis.column(values, "evoeval"))
    far = [name for name, place in placed.items() if place.region != "aligned"]
    plot = scatter(
        "EvoEval average against HumanEval+",
        [Point(name, place.old, place.new, name in far, name in far) for name, place in placed.items()],
        x_title="HumanEval+ pass@1",
        y_title="EvoEval mean pass@1",
        identity=True,
        border=region_border(placed),
    )
    figures = [
        Figure(
            radar("The best five on each set", [axis.title for axis in axes], series),
            "pass@1 on the originals and the five changed sets.",
        ),
        Figure(
            plot,
            f"Dashed: equal scores. {far_below(len(far), len(placed), 'what their HumanEval+ lets expect')}",
        ),
    ]
    for name, how in (("verbose", "at length"), ("concise", "briefly")):
        rows = [
            DotRow(row.name, (row.value("humaneval"), row.value(name)))
            for row in board.rows
            if name in row.scores
        ]
        svg = arrows(f"HumanEval and {name}", ("HumanEval", name), rows)
        figures.append(Figure(svg, f"From HumanEval to the same problems told {how}, in per cent."))
    return figures


def _against(board: PublishedBoard) -> list[Figure]:
    """Two columns of the rows that have both, and the line on which both are equal."""
    if board.id not in AGAINST:
        return []
    title, (x, x_title), (y, y_title), caption = AGAINST[board.id]
    points = [
        Point(row.name, row.scores[x].value, row.scores[y].value)
        for row in board.rows
        if x in row.scores and y in row.scores
    ]
    return [Figure(scatter(title, points, x_title=x_title, y_title=y_title, identity=True), caption)]
