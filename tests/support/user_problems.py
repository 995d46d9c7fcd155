"""Three problems of a user's own, in three formats, and a scripted model that knows them."""

import json
from pathlib import Path
from typing import Any, Final

from support.core_model import RIGHT, WRONG, name_in, said
from support.scripted_evolver import fenced
from support.server_replies import Asked

MARKER: Final = "confidential-7f3a"
"""Stands in every problem and in every reply."""
SLUG: Final = {
    "task_id": "mine/slug",
    "entry_point": "slug",
    "prompt": f'def slug(title):\n    """Words of a title, joined by hyphens ({MARKER}).\n\n'
    "    >>> slug('Big  News')\n    'big-news'\n    \"\"\"\n",
    "canonical_solution": "    text = ''\n    for word in title.lower().split():\n        if text:\n"
    "            text += '-'\n        text += word\n    return text\n",
    "test": "def check(candidate):\n    assert candidate('Big  News') == 'big-news'\n"
    "    assert candidate('') == ''\n    assert candidate('One') == 'one'\n",
}
"""As HumanEval."""
TOTAL: Final = {
    "task_id": "mine/total",
    "entry_point": "total",
    "prompt": f'def total(prices):\n    """Sum; what is above 100 counts half ({MARKER}).\n\n'
    '    >>> total([50, 200])\n    150\n    """\n',
    "canonical_solution": "    result = 0\n    for price in prices:\n        if price > 100:\n"
    "            price = price // 2\n        result += price\n    return result\n",
    "base_input": [[[50, 200]], [[]], [[10, 20, 30]]],
}
"""As EvalPlus."""
RUNS: Final = {
    "task_id": 17,
    "text": f"Write a function runs that counts the runs of equal items ({MARKER}).",
    "code": "def runs(items):\n    count = 0\n    last = None\n    for item in items:\n"
    "        if item != last:\n            count += 1\n        last = item\n    return count\n",
    "test_list": ["assert runs([1, 1, 2]) == 2", "assert runs([]) == 0"],
}
"""As MBPP."""
PROBLEMS: Final = (SLUG, TOTAL, RUNS)
PROGRAMS: Final = {
    "slug": f"{SLUG['prompt']}{SLUG['canonical_solution']}",
    "total": f"{TOTAL['prompt']}{TOTAL['canonical_solution']}",
    "runs": str(RUNS["code"]),
}
ROW: Final = "- {id: mine, title: My functions, problems: mine.jsonl}\n"
PRIVATE: Final = ROW.replace("}", ", private: true}")
SUITES: Final = "loop/mine,runtime/mine,evolved/mine"


def write_problems(path: Path, *problems: dict[str, Any]) -> None:
    """One JSON line each."""
    path.write_text("".join(json.dumps(problem) + "\n" for problem in problems or PROBLEMS))


def answer(asked: Asked) -> str:
    """Rewords a problem that is to be evolved, else says a reference; `worse` says that of `slug` alone."""
    if "Rules for the problem:" in asked.prompt:
        problem = next(one for one in (SLUG, TOTAL) if f"def {one['entry_point']}(" in asked.prompt)
        return fenced(str(problem["prompt"]).replace('"""', '"""To put it in other words: ', 1))
    is_right = asked.body["model"] != "worse" or name_in(asked.prompt, PROGRAMS) == "slug"
    return f"{MARKER}\n{said(asked.prompt, PROGRAMS, RIGHT if is_right else WRONG)}"
