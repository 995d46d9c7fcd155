"""Replaying a stored EVALOOOP run: a script for the model server that finds the recorded step by its text.

A recording is a JSON object whose keys are loops sustained and whose values list tasks: `task_id`,
`initial_prompt`, `cycles` (each with `code_output` and `summary_output`, the next prompt) and
`successful_cycles`.
"""

import gzip
import json
import re
from collections import defaultdict
from typing import Any

import pytest

from support.official_data import recordings
from support.server_replies import Asked

_TASK = re.compile(r'"""\n.*\n"""', re.DOTALL)
_CODE = re.compile(r"```python\n(.*)\n```", re.DOTALL)


def recording(name: str) -> list[dict[str, Any]]:
    """The tasks of one stored run; skips where this machine has none."""
    path = recordings() / f"{name}.json.gz"
    if not path.is_file():
        pytest.skip(
            f"needs a stored run: no file {str(path)!r}; they lie beside the folder of TRIATHLON_DATA"
        )
    with gzip.open(path, "rt") as file:
        return [task for tasks in json.load(file).values() for task in tasks]


class LoopReplay:
    """Says what the recorded model said to this text the first time, then the second time, and so on.

    Two tasks may have one program, and then either may get the other's sentence: a prompt that stands in no
    recording gets the next program of the task whose assertion it carries.
    """

    def __init__(self, tasks: list[dict[str, Any]]) -> None:
        self._programs: dict[str, list[str]] = defaultdict(list)
        self._sentences: dict[str, list[str]] = defaultdict(list)
        self._in_order: dict[str, list[str]] = defaultdict(list)
        """Programs by the assertion of their task."""
        self._came: dict[str, int] = defaultdict(int)
        self._written: dict[str, int] = defaultdict(int)
        """How many programs a task, by its assertion, has got."""
        self.unknown: list[str] = []
        """Questions that no recorded step answers: a program that failed in the recording passed here."""
        for task in tasks:
            prompt = task["initial_prompt"]
            assertion = _assertion(prompt)
            for cycle in task["cycles"]:
                code, following = cycle["code_output"], cycle["summary_output"]
                self._programs[prompt.strip()].append(code)
                self._in_order[assertion].append(code)
                self._sentences[code.strip("\n")].append(_sentence(following, assertion))
                prompt = following

    def __call__(self, asked: Asked) -> str:
        """A program for a task, a sentence for a program."""
        if (task := _TASK.search(asked.prompt)) and (program := self._program(task[0])) is not None:
            return f"```python\n{program}\n```"
        if (code := _CODE.search(asked.prompt)) and code[1] in self._sentences:
            return self._next(self._sentences, code[1])
        self.unknown.append(asked.prompt)
        return "The recording ends here."

    def _program(self, task: str) -> str | None:
        assertion = _assertion(task)
        place = self._written[assertion]
        self._written[assertion] += 1
        if task in self._programs:
            return self._next(self._programs, task)
        in_order = self._in_order[assertion]
        return in_order[place] if place < len(in_order) else None

    def _next(self, replies: dict[str, list[str]], text: str) -> str:
        came = self._came[text]
        self._came[text] += 1
        return replies[text][min(came, len(replies[text]) - 1)]


def _assertion(prompt: str) -> str:
    return "\n".join(line for line in prompt.split("\n") if line.startswith("assert"))


def _sentence(prompt: str, assertion: str) -> str:
    return prompt.removeprefix('"""\n').removesuffix('\n"""\n').removesuffix(assertion).rstrip("\n")
