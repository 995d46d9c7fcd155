"""What runs cost and how fast they were: money, tokens, speed, replies cut at the token limit."""

from triathlon_site.costs._columns import CostCell, CostColumn, cost_cells, cost_columns
from triathlon_site.costs._groups import GroupBoard, group_boards, most_of_headline, most_with_more_tokens
from triathlon_site.costs._run_cost import run_cost, solved_cost_by_name

__all__ = [
    "CostCell",
    "CostColumn",
    "GroupBoard",
    "cost_cells",
    "cost_columns",
    "group_boards",
    "most_of_headline",
    "most_with_more_tokens",
    "run_cost",
    "solved_cost_by_name",
]
