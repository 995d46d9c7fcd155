"""Which published columns are the same quantity as a board's: the same tasks and the same metric.

Each line is a fact about one paper's table: the column there, and the column here that it is.
"""

from collections.abc import Mapping
from typing import Final

Places = tuple[tuple[str, str], ...]
"""Published tables and the column in each; the first that has a figure of a model counts."""

_QWEN: Final = "qwen_coder"
SAME: Final[Mapping[str, Places]] = {
    "loop/mbpp-plus:asl_low": (("evaloop", "asl"),),
    "loop/mbpp-plus:pass_at_1": (("evaloop", "pass_at_1"),),
    "runtime/dreval:coverage_accuracy": (("reval", "coverage_accuracy"),),
    "runtime/dreval:coverage_f1": (("reval", "coverage_f1"),),
    "runtime/dreval:output_accuracy": (("reval", "output_accuracy"),),
    "runtime/cruxeval-output:pass@1": (("cruxeval", "output"),),
    "runtime/cruxeval-output:pass@5": (("cruxeval", "output_5"),),
    "runtime/cruxeval-input:pass@1": (("cruxeval", "input"),),
    "runtime/cruxeval-input:pass@5": (("cruxeval", "input_5"),),
    "evolved:average": (("evoeval", "evoeval"),),
    # EvoEval's figures first: its mean, on the same board, is the mean of its own cells.
    "evolved/humaneval:pass@1": (("evoeval", "humaneval"), ("evalplus", "humaneval"), (_QWEN, "humaneval")),
    "evolved/humaneval-plus:pass@1": (
        ("evoeval", "humaneval_plus"),
        ("evalplus", "humaneval_plus"),
        (_QWEN, "humaneval_plus"),
    ),
    "evolved/mbpp-plus:pass@1": (("evalplus", "mbpp_plus"), (_QWEN, "mbpp_plus")),
    **{
        f"evolved/{name}:pass@1": (("evoeval", name),)
        for name in ("difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise")
    },
}
"""By column of a board on official data."""

_OWN_TESTS: Final = "graded by MBPP’s own few tests; the boards grade by those of MBPP+"
_COT: Final = "asked with a chain of thought; the boards ask for the answer alone"
_TRUTHS: Final = (
    "REval’s own code has other right answers than ours to some questions of state and path (the method page"
    " counts them), so these are not the boards’ quantities"
)
ONLY_PUBLISHED: Final[Mapping[tuple[str, str], str]] = {
    ("evalplus", "mbpp"): _OWN_TESTS,
    (_QWEN, "mbpp"): _OWN_TESTS,
    **{("reval", name): _TRUTHS for name in ("ic", "state_accuracy", "path_accuracy", "average")},
    **{("cruxeval", f"cot_{side}{k}"): _COT for side in ("output", "input") for k in ("", "_5")},
}
"""By published table and column: why it stands on no board."""
