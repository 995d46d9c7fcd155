"""`python -m triathlon_runner.translation`: which MBXP tasks there are, and whose references pass."""

import asyncio
import os
import sys
from pathlib import Path

from platformdirs import user_cache_path

from triathlon_runner.datasets import DataStore
from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.sandbox import open_sandbox
from triathlon_runner.translation import check_references, joined, report


async def _main() -> None:
    named = os.environ.get("TRIATHLON_DATA")
    store = DataStore(cache=user_cache_path("triathlon") / "data", folder=Path(named) if named else None)
    tasks = joined(store)
    async with open_sandbox() as sandbox:
        checks = await check_references(tasks, sandbox)
    sys.stdout.write("\n".join(report(tasks, checks)) + "\n")


if __name__ == "__main__":
    try:
        asyncio.run(_main())
    except (UserError, InfrastructureError) as error:
        sys.exit(str(error))
