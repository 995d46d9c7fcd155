"""The `.eval_results/` files of a model's repository on the Hugging Face hub."""

from collections.abc import Iterator, Mapping
from typing import Final

import yaml

from triathlon_site.exchange._source import Source
from triathlon_site.render import formats

DATA_SETS: Final[Mapping[str, str]] = {
    "cruxeval": "cruxeval-org/cruxeval",
    "humaneval": "openai/openai_humaneval",
    "humaneval-plus": "evalplus/humanevalplus",
    "humaneval-pro": "CodeEval-Pro/humaneval-pro",
    "mbpp-plus": "evalplus/mbppplus",
    "mbpp-pro": "CodeEval-Pro/mbpp-pro",
}
"""Data sets on the hub, by the name in a manifest. Our own problems and sets that are not there have none."""


def fault(source: Source) -> str:
    """Why there is nothing to say on the hub; empty where there is."""
    if not source.on_hub:
        return "the model's `link` in models.yaml is no repository of huggingface.co"
    if source.manifest.data.name not in DATA_SETS:
        return f"the hub has no data set for {source.manifest.data.name!r}"
    return ""


def files(source: Source) -> Iterator[tuple[str, str]]:
    """One file a suite, to be put into the model's repository: a list with one entry a headline score."""
    path = f"{source.repository}/.eval_results/triathlon_{source.entry.id.replace('/', '_')}.yaml"
    yield path, yaml.safe_dump(list(_entries(source)), sort_keys=False, allow_unicode=True)


def _entries(source: Source) -> Iterator[dict[str, object]]:
    receipt = source.file.receipt
    for column, score in source.scores:
        if not column.headline:
            continue
        about = f"{column.title}; 95 % interval {formats.span(score.interval, column.maximum)}"
        grade = "judged again from a recording" if receipt else "asked and judged by Triathlon"
        entry: dict[str, object] = {
            "dataset": {"id": DATA_SETS[source.manifest.data.name], "task_id": source.entry.id},
            "value": float(f"{score.value:.6g}"),
        }
        if source.manifest.ended:
            entry["date"] = source.manifest.ended[:10]
        if receipt:
            entry["source"] = {"url": receipt.address, "name": receipt.title}
        yield entry | {"notes": f"{about}; {score.tasks} tasks; {grade}"}
