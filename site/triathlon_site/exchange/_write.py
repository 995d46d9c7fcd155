"""The formats of `triathlon export`, and what a call writes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from triathlon_runner.errors import UserError
from triathlon_runner.models_yaml import check_names
from triathlon_runner.records import ProgramRecord
from triathlon_site.exchange import _every_eval_ever
from triathlon_site.exchange._source import Source
from triathlon_site.render import formats


@dataclass(frozen=True)
class Export:
    """Another program's format."""

    about: str
    """In a line, for the data page."""
    files: Callable[[Source], Iterator[tuple[str, str | bytes]]]
    """Path and content of each file that one source becomes."""
    fault: Callable[[Source], str]
    """Why the format cannot hold a source, in words; empty where it can."""


def _no_programs(source: Source) -> str:
    """Why there are no programs to export; empty where there are."""
    if not source.with_texts:
        return "programs that are others' work, or tasks that are private"
    is_program = issubclass(source.entry.record, ProgramRecord)
    return "" if is_program else "units that are no single programs, as those of evolved are"


def _evalplus(source: Source) -> Iterator[tuple[str, str]]:
    """One file: `task_id` and `solution` (a whole program) a line; a task's samples one after another."""
    rows = ({"task_id": record.task_id, "solution": record.program} for record in source.programs())
    lines = (json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
    yield f"{source.info.slug}/{source.entry.id}.jsonl", "".join(lines)


def _inspect_logs(source: Source) -> Iterator[tuple[str, bytes]]:
    """A log of inspect_ai, which is an extra."""
    try:
        from triathlon_site.exchange._inspect import files  # noqa: PLC0415  see there
    except ImportError:
        raise UserError(
            "expected the package inspect_ai, whose API writes these logs; it is not installed:"
            " run pip install '.[inspect]' in a checkout"
        ) from None
    return files(source)


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


def _no_hub_file(source: Source) -> str:
    """Why there is no file for the hub; empty where there is one."""
    if not source.hub_repository:
        return "the model's `link` in models.yaml is no repository of huggingface.co"
    if source.entry.id.partition("/")[2] not in DATA_SETS:
        return f"the hub has no data set for {source.entry.id!r}"
    if source.file.open_units:
        return "units are open: what is missing may be what the model failed"
    has_headline = any(column.parts[0][1].headline for column, _ in source.scores)
    return "" if has_headline else "it has no score of its own on a board"


def _hub_files(source: Source) -> Iterator[tuple[str, str]]:
    """One file a suite, to be put into the model's repository: a list with one entry a headline score.

    The suite's headline metric may be one column of a board of several suites.
    """
    receipt, manifest, entries = source.file.receipt, source.manifest, []
    grade = "graded again from a recording" if receipt else "asked and graded by Triathlon"
    if source.info.bits:
        grade += f", with weights of {source.info.bits} bits"
    for column, score in source.scores:
        if not column.parts[0][1].headline:
            continue
        unit = " %" if column.maximum == 1 else ""  # the value is a share
        about = f"{column.title}; 95 % interval {formats.span(score.interval, column.maximum)}{unit}"
        if score.upper is not None:
            known = formats.known_range(score.value, score.upper, column.maximum)
            about += f"; only known as {known}{unit}, as some loops had no judge: the value is the lower end"
        tasks = f"{score.tasks} tasks"
        if manifest.tasks_planned < manifest.tasks_in_suite:
            tasks += f" ({manifest.tasks_planned} of the suite's {manifest.tasks_in_suite} were asked)"
        if score.apart:
            tasks += f"; {score.apart}"
        entry: dict[str, Any] = {
            "dataset": {"id": DATA_SETS[source.entry.id.partition("/")[2]], "task_id": source.entry.id},
            "value": float(f"{score.value:.6g}"),
        }
        if manifest.ended:
            entry["date"] = manifest.ended[:10]
        if receipt:
            entry["source"] = {"url": receipt.address, "name": receipt.title}
        elif source.url:
            entry["source"] = {"url": source.url, "name": "Triathlon"}
        entries.append(entry | {"notes": f"{about}; {tasks}; {grade}"})
    path = f"{source.repository}/.eval_results/triathlon_{source.entry.id.replace('/', '_')}.yaml"
    yield path, yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)


EXPORTS: Final[Mapping[str, Export]] = {
    "every-eval-ever": Export(
        "Every Eval Ever 0.3: scores with intervals, and a line a sample",
        _every_eval_ever.files,
        _every_eval_ever.fault,
    ),
    "hf-eval-results": Export(
        "Hugging Face: a .eval_results YAML file for the model's repository", _hub_files, _no_hub_file
    ),
    "evalplus": Export("EvalPlus samples: task_id, solution", _evalplus, _no_programs),
    "inspect": Export("inspect_ai: a .eval log, by its own API", _inspect_logs, _no_programs),
}
"""By the name that the command takes."""


@dataclass(frozen=True)
class Exported:
    """What an export wrote and what it left out."""

    files: int
    sources: int
    """Results files that something was written of."""
    left_out: Mapping[str, str]
    """Results files that this format cannot hold, and why."""


def write_export(name: str, sources: Iterable[Source], out: Path) -> Exported:
    """Writes results in another program's format. The same results give the same bytes.

    Args:
        name: one of `EXPORTS`.
        sources: of `sources_of`.
        out: a folder that is new or empty.

    Raises:
        UserError: an unknown name, or an `out` with something in it.
    """
    check_names([name], list(EXPORTS), what="format")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"expected a new or empty folder at --out, got {str(out)!r}; name another")
    left_out: dict[str, str] = {}
    written = exported = 0
    for source in sources:
        if fault := EXPORTS[name].fault(source):
            left_out[source.file.file] = fault
            continue
        contents = {out / path: content for path, content in EXPORTS[name].files(source)}
        if taken := next((target for target in contents if target.exists()), None):
            left_out[source.file.file] = (
                f"another model's file has its name, {str(taken)!r}: one link, two rows"
            )
            continue
        for target, content in contents.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        exported += 1
        written += len(contents)
    return Exported(written, exported, left_out)
