"""Tasks seen across models: how hard each is, how well it tells models apart, which are suspect."""

from triathlon_site.tasks._statistics import (
    FEWEST_MODELS,
    SuiteTasks,
    TaskStatistics,
    suite_tasks,
)

__all__ = ["FEWEST_MODELS", "SuiteTasks", "TaskStatistics", "suite_tasks"]
