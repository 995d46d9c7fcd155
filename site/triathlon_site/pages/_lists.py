"""Lists of links that have hundreds of thousands of entries: filters in plain Python, escaped here."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from triathlon_site.pages._model import TaskLink
    from triathlon_site.pages._tasks import Attempt


def task_links(tasks: Iterable["TaskLink"], root: str) -> Markup:
    """Every unit of a suite: how it ended, and the way to its evidence."""
    items = []
    for task in tasks:
        note = ""
        if task.outcome != "passed":
            known = ", original solved" if task.known_parents else ""
            note = f" <small>{escape(task.outcome.replace('_', ' '))}{known}</small>"
        address = f"{escape(root)}{escape(task.path)}"
        items.append(
            f'<li><a class="{escape(task.outcome)}" href="{address}">{escape(task.label)}</a>{note}</li>'
        )
    return Markup("".join(items))


def attempt_links(attempts: Iterable["Attempt"], root: str) -> Markup:
    """Who solved a task, or did not; `name` and addresses of an attempt are escaped already."""
    return Markup(", ".join([f'<a href="{root}{one.address}">{one.name}</a>' for one in attempts]))
