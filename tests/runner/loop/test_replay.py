"""Fidelity: stored runs of real models, replayed through the real runner, agree with what was published."""

import asyncio
import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from support.model_server import ModelServer
from support.official_data import official_store
from support.replay_loop import LoopReplay, recording
from triathlon_runner import loop
from triathlon_runner.endpoints import ApiConfig, Limits, open_model
from triathlon_runner.grading import ProgramGrader
from triathlon_runner.records import LoopRecord
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.suites import Suite

AGREEMENT = 0.995
"""Share of tasks whose sustained loops must agree with the recording."""
ASL_TOLERANCE = 0.02

PUBLISHED = {
    "loop-claude-haiku-3.5": "Claude Haiku 3.5",
    "loop-deepseek-coder-7b-instruct-v1.5": "deepseek-coder-7b-instruct-v1.5",
    "loop-gpt-3.5-turbo": "GPT-3.5-Turbo",
}


def mbpp_plus() -> Suite:
    (entry,) = (entry for entry in loop.catalogue() if entry.id == "loop/mbpp-plus")
    return entry.build(official_store())


async def replay(tasks: Sequence[dict[str, Any]], suite: Suite, keys: Path) -> dict[str, LoopRecord]:
    """Runs the suite against a server that replays these tasks; units that stay open are missing."""
    script = LoopReplay(list(tasks))
    records: dict[str, LoopRecord] = {}
    async with ModelServer(script, keep_requests=False) as server, open_sandbox() as sandbox:
        config = ApiConfig(base_url=server.base_url, model="replayed", concurrency=64)
        async with open_model("replayed", "instruct", config, limits=Limits(attempts=1)) as model:
            grader = ProgramGrader(sandbox, keys)
            gate = asyncio.Semaphore(64)

            async def one(task_id: str) -> None:
                async with gate:
                    record = await suite.run(task_id, 0, model, grader, "replay")
                assert isinstance(record, LoopRecord)
                records[task_id] = record

            async with asyncio.TaskGroup() as group:
                for task in tasks:
                    group.create_task(one(task["task_id"]))
    return records


@pytest.mark.official
@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
async def test_recorded_runs_come_out_as_published(name: str, tmp_path: Path) -> None:
    """Sustained loops agree with the recording for 99.5 % of tasks, and ASL with its published value."""
    tasks = recording(name)
    keys = Path(os.environ.get("TRIATHLON_TEST_KEYS", tmp_path))
    records = await replay(tasks, mbpp_plus(), keys)
    recorded = {task["task_id"]: task["successful_cycles"] for task in tasks}
    found = {task_id: record.sustained_loops for task_id, record in records.items()}
    different = {
        task: (recorded[task], found.get(task)) for task in recorded if recorded[task] != found.get(task)
    }
    assert 1 - len(different) / len(recorded) >= AGREEMENT, different
    span = loop.asl(list(records.values()))
    published = published_asl(PUBLISHED[name])
    assert span.low - ASL_TOLERANCE < published < span.high + ASL_TOLERANCE


def published_asl(model: str) -> float:
    data = os.environ.get("TRIATHLON_DATA")
    shared = Path(data).parent if data else Path(__file__).resolve().parents[4] / "shared"
    with (shared / "published" / "evaloop_models.csv").open(newline="") as file:
        return next(float(row["asl"]) for row in csv.DictReader(file) if row["model"] == model)
