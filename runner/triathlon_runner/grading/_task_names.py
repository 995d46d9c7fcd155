"""Which task a sample of another program is about: by its id, its folder, its number or its position."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.datasets import AnyProblem, ClassProblem

_POSITION: Final = re.compile(r"position (\d{1,6})")
_WORD: Final = re.compile(r"\w+")
_DEFINED: Final = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
UNKNOWN: Final = "the suite has no such task"


def position_name(index: int) -> str:
    """Returns the name of a sample that a file knows by its position alone, from 0."""
    return f"position {index}"


@dataclass(frozen=True, slots=True)
class FoundTask:
    """The task of a sample, or why there is none."""

    task_id: str
    """Empty where there is none."""
    why_not: str = ""


class TaskNames:
    """The tasks of one data set, by all the names that other programs have for them."""

    def __init__(self, problems: Sequence[AnyProblem]) -> None:
        """`problems`: in the order of the data set, which is what positions count."""
        self._ids = [problem.task_id for problem in problems]
        self._functions = {
            problem.task_id: problem.class_name if isinstance(problem, ClassProblem) else problem.entry_point
            for problem in problems
        }
        self._folders = {task_id.replace("/", "_"): task_id for task_id in self._ids}

    def find(self, name: str, text: str, about: str = "") -> FoundTask:
        """Returns the task that a name stands for.

        A number is the task's own (MBPP's 2 is `Mbpp/2`) only where the sample is about that task: programs
        number their samples, too. Automatic ids 1, 2, 3 would have programs graded against other tasks.

        Args:
            name: An id, a folder with `_` for `/`, a number, or what `position_name` returns.
            text: The program or reply.
            about: What the sample says of its task, such as the prompt; empty where it says nothing.
        """
        if name in self._functions and not name.isdecimal():
            return FoundTask(name)
        position = _POSITION.fullmatch(name)
        if name in self._functions:
            numbered = name
        elif position:
            numbered = self._ids[int(position[1])] if int(position[1]) < len(self._ids) else ""
        else:
            numbered = f"Mbpp/{name}" if name.isdecimal() else ""
        if numbered not in self._functions:
            folder = self._folders.get(name.replace("/", "_"), self._folders.get(name.rpartition("/")[2], ""))
            return FoundTask(folder, "" if folder else UNKNOWN)
        function = self._functions[numbered]
        if self._is_about(function, text, about, is_certain=not (about or position)):
            return FoundTask(numbered)
        return FoundTask("", f"{name!r} is no id of {numbered!r}: the sample does not name {function!r}")

    def _is_about(self, function: str, text: str, about: str, *, is_certain: bool) -> bool:
        """Whether a sample is about the task of a function.

        `is_certain`: the number stands where an id belongs, and nothing else tells what the task is: it
        counts unless the program defines another task's function in place of this one.
        """
        if function in _WORD.findall(f"{about}\n{text}"):
            return True
        return is_certain and set(_DEFINED.findall(text)).isdisjoint(self._functions.values())
