"""Where a board's page is, and what part of its tasks a model ran."""

from triathlon_site.scores import Board


def board_page(board: Board) -> str:
    """`loop.html` on our own problems; `loop-mbpp-plus.html` on official data."""
    plan = board.plan
    return f"{plan.discipline if plan.family == 'core' else plan.id}.html"


def part_run(board: Board, model: str) -> str:
    """`20 of 142`: tasks that were planned, over the board's suites; empty where that is all of them."""
    if not board.partial(model):
        return ""
    manifests = [file.manifest for file in board.files[model] if file.manifest]
    planned = sum(manifest.tasks_planned for manifest in manifests)
    return f"{planned} of {sum(manifest.tasks_in_suite for manifest in manifests)}"
