"""Programs as samples: EvalPlus's lines, and those of lm-evaluation-harness."""

import json
from collections.abc import Iterator

from triathlon_runner.catalogue import entries
from triathlon_runner.records import Outcome, ProgramRecord
from triathlon_site.exchange._source import Source


def fault(source: Source) -> str:
    """Why there are no programs to export; empty where there are."""
    if not source.with_texts:
        return "its programs are others' work, or its tasks are private"
    if not issubclass(source.entry.record, ProgramRecord):
        fitting = {entry.discipline for entry in entries() if issubclass(entry.record, ProgramRecord)}
        return f"its units are no single programs; expected a suite of {' or '.join(sorted(fitting))}"
    return ""


def evalplus(source: Source) -> Iterator[tuple[str, Iterator[str]]]:
    """One file: `task_id` and `solution` (a whole program) a line; a task's samples one after another."""
    lines = (_line({"task_id": record.task_id, "solution": record.program}) for record in programs(source))
    yield f"{source.info.slug}/{source.entry.id}.jsonl", lines


def lm_eval(source: Source) -> Iterator[tuple[str, Iterator[str]]]:
    """One file with a line a sample: the task's row, the replies, the programs and whether they passed."""
    path = f"{source.info.slug}/samples_{source.file_name}_{source.time}.jsonl"
    yield path, (_line(_lm_eval(number, record)) for number, record in enumerate(programs(source)))


def _lm_eval(number: int, record: ProgramRecord) -> dict[str, object]:
    return {
        "doc_id": number,
        "doc": {"task_id": record.task_id, "prompt": record.prompt},
        "target": "",
        "arguments": {"gen_args_0": {"arg_0": record.prompt, "arg_1": {}}},
        "resps": [[record.reply.text]],
        "filtered_resps": [record.program],
        "filter": "extract_program",
        "metrics": ["pass@1"],
        "pass@1": float(record.outcome is Outcome.PASSED),
    }


def programs(source: Source) -> Iterator[ProgramRecord]:
    """The records of a source for which `fault` is empty."""
    return (record for record in source.records() if isinstance(record, ProgramRecord))


def _line(row: dict[str, object]) -> str:
    return json.dumps(row, ensure_ascii=True) + "\n"
