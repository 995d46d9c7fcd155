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

_TASK = re.compile(r'("""\n.*\n""")', re.DOTALL)
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
    """Says what the recorded model said to this text the first time, then the second time, and so on."""

    def __init__(self, tasks: list[dict[str, Any]]) -> None:
        self._replies: dict[str, list[str]] = defaultdict(list)
        """Programs by their prompt, sentences by their program."""
        for task in tasks:
            prompt = task["initial_prompt"]
            assertion = _assertion(prompt)
            for cycle in task["cycles"]:
                code, following = cycle["code_output"], cycle["summary_output"]
                self._replies[prompt.strip()].append(f"```python\n{code}\n```")
                self._replies[code.strip("\n")].append(_sentence(following, assertion))
                prompt = following

    def __call__(self, asked: Asked) -> str:
        """A program for a task, a sentence for a program."""
        for pattern in (_TASK, _CODE):
            found = pattern.search(asked.prompt)
            if found and (replies := self._replies.get(found[1])):
                return replies.pop(0) if len(replies) > 1 else replies[0]
        return "The recording ends here."


def _assertion(prompt: str) -> str:
    return "\n".join(line for line in prompt.split("\n") if line.startswith("assert"))


def _sentence(prompt: str, assertion: str) -> str:
    return prompt.removeprefix('"""\n').removesuffix('\n"""\n').removesuffix(assertion).rstrip("\n")
