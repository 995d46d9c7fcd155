"""EVALOOOP's per-model JSON: keys are loops sustained, values list tasks with their cycles."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignLoop, as_object, file_content, text_of


def read_evaloop(path: Path) -> Iterator[Foreign]:
    """Yields every task's loop.

    A cycle has `code_output` and `summary_output`: the next prompt, which is the sentence and the assertions.

    Raises:
        UserError: the file has another shape.
    """
    for count, tasks in as_object(file_content(path), str(path)).items():
        if not isinstance(tasks, list):
            raise UserError(f"{path}: expected lists of tasks by loops, got {tasks!r:.80} at {count!r}")
        for task in tasks:
            loop = _loop(task, f"{path}, key {count!r}")
            yield replace(loop, sustained_loops=int(count)) if count.isdecimal() else loop


def _loop(task: Any, where: str) -> ForeignLoop:
    if not isinstance(task, dict) or not isinstance(task.get("cycles"), list):
        raise UserError(f"{where}: expected a task with its cycles, got {task!r:.80}")
    task_id = text_of(task, "task_id", where)
    assertions = _assertions(text_of(task, "initial_prompt", where))
    cycles = task["cycles"]
    return ForeignLoop(
        task_id,
        programs=tuple(text_of(cycle, "code_output", f"{where}, {task_id}") for cycle in cycles),
        sentences=tuple(
            _sentence(text_of(cycle, "summary_output", f"{where}, {task_id}"), assertions) for cycle in cycles
        ),
    )


def _assertions(prompt: str) -> str:
    return "\n".join(line for line in prompt.split("\n") if line.startswith("assert"))


def _sentence(prompt: str, assertions: str) -> str:
    """Returns a prompt without the docstring quotes around it and the assertions at its end."""
    inside = prompt.strip().removeprefix('"""').removesuffix('"""').strip("\n")
    return inside.removesuffix(assertions).strip()
