"""Executes every reference program of MBXP with its language's own tests (minutes).

`python tools/mbxp_check.py FOLDER`, with the official data files in FOLDER, prints what docs/data.md states:
how many tasks have all five languages, and how many references pass in each. Tasks whose Python reference
fails have no correct program to begin with: `WRONG_START` in `translation/_task.py` lists them.
"""

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from triathlon_runner.concurrency import run_all
from triathlon_runner.datasets import DataStore
from triathlon_runner.records import Outcome
from triathlon_runner.sandbox import Language, Sandbox, open_sandbox
from triathlon_runner.translation import TITLES, MbxpTask, mbxp_tasks

Check = tuple[int, list[int]]
"""How many programs the data set has in a language, and the tasks whose program fails its own tests."""


async def check(tasks: Sequence[MbxpTask], sandbox: Sandbox, language: Language) -> Check:
    """Executes every reference in a language with its own tests."""
    references = [(task, text) for task in tasks if (text := task.reference(language))]
    verdicts = await run_all(task.grade(text, language, sandbox) for task, text in references)
    judged = zip(references, verdicts, strict=True)
    return len(references), [task.number for (task, _), one in judged if one.outcome is not Outcome.PASSED]


def report(tasks: int, checks: Mapping[Language, Check]) -> Iterator[str]:
    """The report as text, a line each."""
    yield f"{tasks} tasks have all {len(Language)} languages"
    yield f"{'language':<12}{'references':>12}{'passing':>9}"
    for language, (count, failing) in checks.items():
        yield f"{TITLES[language]:<12}{count:>12}{count - len(failing):>9}"
        if language is Language.PYTHON and failing:
            yield f"  without a correct Python program: {', '.join(map(str, failing))}"


async def _main(folder: Path) -> None:
    tasks = mbxp_tasks(DataStore(cache=folder, folder=folder, fetch=False), left_out=())
    async with open_sandbox() as sandbox:
        checks = {language: await check(tasks, sandbox, language) for language in Language}
    sys.stdout.writelines(f"{line}\n" for line in report(len(tasks), checks))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("expected a folder with the official data files: python tools/mbxp_check.py FOLDER")
    asyncio.run(_main(Path(sys.argv[1])))
