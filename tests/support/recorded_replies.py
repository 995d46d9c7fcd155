"""A scripted model that says what a recorded one said; for `python -m support.model_server`.

`TRIATHLON_TEST_SUBSET` names the subset of the recording whose solutions it knows: two problems of EvoEval's
subtle set have the very prompts of their seeds.
"""

import gzip
import json
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

from support.official_data import official_store, recordings
from support.server_replies import Asked
from triathlon_runner import evolved

SUBSET = "TRIATHLON_TEST_SUBSET"
RECORDING = recordings() / "evolved-chatgpt.jsonl.gz"
"""GPT-3.5's greedy solutions with the official verdicts."""


def recorded() -> Iterator[dict[str, Any]]:
    """The recording's lines, with the suite that each belongs to."""
    with gzip.open(RECORDING, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield {**row, "suite": "evolved/" + row["subset"].removeprefix("EvoEval_")}


def chatgpt(asked: Asked) -> str:
    """Its solution to the problem whose prompt was asked, as a chat model fences it."""
    known = _solutions(os.environ[SUBSET])
    prompt = next(prompt for prompt in known if prompt in asked.prompt)
    return f"Here is the function.\n\n```python\n{known[prompt]}\n```\n"


@cache
def _solutions(suite_id: str) -> dict[str, str]:
    entry = next(entry for entry in evolved.catalogue() if entry.id == suite_id)
    suite = entry.build(official_store())
    assert isinstance(suite, evolved.EvolvedSuite)
    solutions = {row["task_id"]: row["solution"] for row in recorded() if row["suite"] == suite_id}
    return {problem.prompt.strip("\n"): solutions[problem.task_id] for problem in suite.problems.values()}
