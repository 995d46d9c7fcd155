"""One run of a fake suite against a model server, in a process that may be killed or have little disk.

Arguments: base URL, folder, number of tasks, largest size of a file in bytes (0: no limit).
"""

import asyncio
import resource
import signal
import sys
from pathlib import Path

from support.fake_suite import FakeSuite
from support.long_units import LongRun
from triathlon_runner.errors import UserError, leaves
from triathlon_runner.suites import Task


async def main(base_url: str, root: Path, count: int) -> int:
    """Runs what is open; the exit code of the command."""
    suite = FakeSuite(tasks=[Task(f"task {number:04}") for number in range(count)])
    summary = await LongRun(root, suite, concurrency=8)(base_url)
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
