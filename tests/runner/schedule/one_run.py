"""One run of a fake suite against a model server, in a process that may be killed or have little disk.

Arguments: base URL, folder, number of tasks, largest size of a file in bytes (0: no limit).
"""

import asyncio
import io
import resource
import signal
import sys
from pathlib import Path

from rich.console import Console

from support.fake_suite import GRADER, FakeSuite, entry_of
from triathlon_runner.errors import UserError, leaves
from triathlon_runner.llm import ReplyCache
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.schedule import (
    PROFILES,
    ConsoleProgress,
    ModelOpener,
    Runner,
    RunPlan,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import Task


async def main(base_url: str, root: Path, count: int) -> int:
    """Runs what is open; the exit code of the command."""
    row = ModelRow.model_validate(
        {"id": "m", "name": "M", "api": {"base_url": base_url, "model": "scripted", "concurrency": 8}}
    )
    registry = Registry(models=(row,))
    suite = FakeSuite(tasks=[Task(f"task {number:04}") for number in range(count)])
    built = choose(entry_of(suite), suite, PROFILES["standard"])
    progress = ConsoleProgress(Console(file=io.StringIO()))
    with ReplyCache(root / "replies.sqlite") as replies:
        runner = Runner(
            ResultsFolder(root / "results"),
            GRADER,
            ModelOpener(registry, replies, root, progress.say),
            progress,
            "standard",
        )
        summary = await runner.run(RunPlan(work={"m": work_for(registry, row, [built])}))
    sys.stderr.write("\n".join(summary.errors))
    return summary.exit_code


if __name__ == "__main__":
    if limit := int(sys.argv[4]):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        code = asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
    except* UserError as errors:
        sys.stderr.write("\n".join(map(str, leaves(errors))))
        code = 2
    sys.exit(code)
