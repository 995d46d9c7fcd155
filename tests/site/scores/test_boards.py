"""What the boards and their columns are called."""

from triathlon_runner import catalogue
from triathlon_site.scores import plan_boards, set_title


def test_data_is_called_what_its_field_calls_it() -> None:
    """No board shows a name of a file: MBXP, not mbxp."""
    titles = {plan.id: plan.title for plan in plan_boards(catalogue.entries())}
    assert titles["translation-mbxp"] == "MBXP"
    assert [titles[f"runtime-{name}"] for name in ("dreval", "humaneval", "classeval")] == [
        "DREval",
        "HumanEval",
        "ClassEval",
    ]
    assert (set_title("humaneval-plus"), set_title("tool_use-main_only")) == (
        "HumanEval+",
        "tool use, main only",
    )
