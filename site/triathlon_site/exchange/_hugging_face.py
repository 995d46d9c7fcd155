"""The `.eval_results/` files of a model's repository on the Hugging Face hub."""

from collections.abc import Iterator, Mapping
from typing import Final

import yaml

from triathlon_site.exchange._source import Source
from triathlon_site.render import formats
from triathlon_site.scores import Column, Score

_EVOEVAL: Final = ("difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise")
DATA_SETS: Final[Mapping[str, str]] = {
    "mbpp-plus": "evalplus/mbppplus",
    "mbpp-pro": "CodeEval-Pro/mbpp-pro",
    "humaneval": "openai/openai_humaneval",
    "humaneval-plus": "evalplus/humanevalplus",
    "humaneval-pro": "CodeEval-Pro/humaneval-pro",
    "cruxeval": "cruxeval-org/cruxeval",
    "cruxeval-output": "cruxeval-org/cruxeval",
    "cruxeval-input": "cruxeval-org/cruxeval",
    **{name: f"evoeval/EvoEval_{name}" for name in _EVOEVAL},
}
"""Data sets on the hub by what follows the discipline in a suite's id. Our own problems and sets that are not
there have none."""


def _data_set(source: Source) -> str | None:
    return DATA_SETS.get(source.entry.id.partition("/")[2])


def fault(source: Source) -> str:
    """Why there is no file for the hub; empty where there is one."""
    if not source.hub_repository:
        return "the model's `link` in models.yaml is no repository of huggingface.co"
    if not _data_set(source):
        return f"the hub has no data set for {source.entry.id!r}"
    return "" if _headlines(source) else "it has no score of its own on a board"


def files(source: Source) -> Iterator[tuple[str, str]]:
    """One file a suite, to be put into the model's repository: a list with one entry a headline score."""
    path = f"{source.repository}/.eval_results/triathlon_{source.file_name}.yaml"
    yield path, yaml.safe_dump(list(_entries(source)), sort_keys=False, allow_unicode=True)


def _headlines(source: Source) -> list[tuple[Column, Score]]:
    """The scores by the suite's headline metric, also where it is one column of a board of several suites."""
    return [(column, score) for column, score in source.scores if column.parts[0][1].headline]


def _entries(source: Source) -> Iterator[dict[str, object]]:
    receipt = source.file.receipt
    for column, score in _headlines(source):
        about = f"{column.title}; 95 % interval {formats.span(score.interval, column.maximum)}"
        if score.upper is not None:
            known = formats.known_range(score.value, score.upper, column.maximum)
            about += f"; only known as {known}, since some loops had no judge: the value is the lower end"
        manifest, tasks = source.manifest, f"{score.tasks} tasks"
        if manifest.tasks_planned < manifest.tasks_in_suite:
            tasks += f" ({manifest.tasks_planned} of the suite's {manifest.tasks_in_suite} were asked)"
        grade = "graded again from a recording" if receipt else "asked and graded by Triathlon"
        entry: dict[str, object] = {
            "dataset": {"id": _data_set(source), "task_id": source.entry.id},
            "value": float(f"{score.value:.6g}"),
        }
        if source.manifest.ended:
            entry["date"] = source.manifest.ended[:10]
        if receipt:
            entry["source"] = {"url": receipt.address, "name": receipt.title}
        elif source.url:
            entry["source"] = {"url": source.url, "name": "Triathlon"}
        yield entry | {"notes": f"{about}; {tasks}; {grade}"}
