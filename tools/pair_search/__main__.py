"""Finds the pairs again and rewrites the pair files: `PYTHONPATH=tools python -m pair_search --only core`.

Needed after a change of our own seeds. FOLDER holds the official data files, which HumanEval's pairs need;
those take a minute or two.
"""

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from core_checks import detail
from pair_search._file import CORE_PAIRS, HUMANEVAL_PAIRS, to_json
from pair_search._find import draw, find_pairs
from triathlon_runner.datasets import DataStore, Problem, core, official
from triathlon_runner.datasets.official._raw import read_rows
from triathlon_runner.evolved import problem_pairs
from triathlon_runner.sandbox import Sandbox, open_sandbox


async def _rewrite(
    name: str, problems: Sequence[Problem], requires: Mapping[str, str], most: int, sandbox: Sandbox
) -> None:
    pairs = await find_pairs(problems, requires, sandbox)
    drawn = draw(pairs, most)
    Path(problem_pairs.__file__).with_name(f"{name}.json").write_text(
        to_json(pairs, drawn, problems), encoding="utf-8"
    )
    sys.stdout.write(f"{name}: {pairs.matching} match, {len(pairs.pairs)} execute, {len(drawn)} drawn\n")


async def _main(sets: Sequence[str], store: DataStore) -> None:
    async with open_sandbox() as sandbox:
        if "core" in sets:
            seeds = core.problems("seeds")
            details = {seed.task_id: detail(seed.task_id).requires for seed in seeds}
            requires = {name: f"assert {text}" for name, text in details.items() if text}
            await _rewrite("core", seeds, requires, CORE_PAIRS, sandbox)
        if "humaneval" in sets:
            rows = read_rows(store, official.HUMANEVAL_PLUS)
            contracts = {row["task_id"]: row["contract"] for row in rows}
            await _rewrite("humaneval", official.humaneval(store), contracts, HUMANEVAL_PAIRS, sandbox)


def main() -> None:
    """Reads the command line and rewrites."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", choices=("core", "humaneval"))
    arguments = parser.parse_args()
    sets = [arguments.only] if arguments.only else ["core", "humaneval"]
    if arguments.folder is None and "humaneval" in sets:
        parser.error("HumanEval's pairs need FOLDER with the official data files; or pass --only core")
    folder = arguments.folder or Path()
    asyncio.run(_main(sets, DataStore(cache=folder, folder=folder, fetch=False)))


if __name__ == "__main__":
    main()
