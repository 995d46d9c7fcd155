"""Scores of one model's rows by the tokens that they write."""

import re

from triathlon_site.figures import TokenPoint, score_by_tokens

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


def test_names_do_not_overlap() -> None:
    """Rows that differ little in tokens and score have their names at different heights."""
    near = [TokenPoint(f"Thinker 8B (effort {number})", 1000 + number, 5, 4, 6) for number in range(4)]
    figure = score_by_tokens("t", near, "ASL", 10)
    heights = re.findall(r'class="note" x="[\d.]+" y="([\d.]+)"', figure)
    assert len(set(heights)) == len(near)


def test_one_budget_and_no_score_can_be_drawn() -> None:
    """Equal tokens, few tokens and scores of 0 have a place, too."""
    figure = score_by_tokens("t", [TokenPoint(name, 0.5, 0, 0, 0) for name in "ab"], "pass@1", 100)
    assert "nan" not in figure and figure.count("<circle") == 2
