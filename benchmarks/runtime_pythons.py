"""How many truths of DREval's official questions change with the Python that traces them.

    python3.11 benchmarks/runtime_pythons.py --data FOLDER --write truths-3.11.json
    python3.12 benchmarks/runtime_pythons.py --data FOLDER --write truths-3.12.json
    python3.11 benchmarks/runtime_pythons.py --compare truths-3.11.json truths-3.12.json

Each Python needs this package and the libraries of the programs (`pip install '.[official]'`). None of the
3,152 questions has another truth under 3.12.1 or 3.13.0 than under 3.11. The suite's truths are those of
3.11; under another version its settings are others, so that results of different truths never mix.
"""

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from triathlon_runner.datasets import DataStore
from triathlon_runner.memo import python_version
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._programs import dreval_programs
from triathlon_runner.sandbox import open_sandbox

KINDS = {"coverage": "executed", "state": "states", "path": "next_lines"}


async def truths(data: Path, jobs: int | None, only: Collection[str]) -> dict[str, dict[str, Any]]:
    """What is right about each question (program, input, line, variable), by kind of question.

    Args:
        data: Folder with the official data files.
        jobs: Programs at once.
        only: Programs, such as `DREval/117`; all where it is empty.
    """
    with tempfile.TemporaryDirectory() as cache:
        every = dreval_programs(DataStore(cache=Path(cache), folder=data, fetch=False))
        chosen = [program for program in every if not only or program.task_id in only]
        async with open_sandbox(jobs=jobs) as sandbox:
            programs, _ = await construct(chosen, sandbox)
    answers = {}
    for program in programs:
        for asked in program.inputs:
            for statement in asked.statements:
                right = statement.model_dump(mode="json")
                place = f"{program.task_id} input {asked.index} line {statement.line} {statement.variable}"
                answers[place] = {kind: right[name] for kind, name in KINDS.items()}
    return answers


def compare(files: tuple[Path, Path]) -> None:
    """Prints which truths differ between two files, and how many of each kind."""
    first, second = (json.loads(file.read_text("utf-8")) for file in files)
    ours, theirs = first["truths"], second["truths"]
    differing: Counter[str] = Counter()
    for place in sorted(ours.keys() & theirs.keys()):
        kinds = [kind for kind in KINDS if ours[place][kind] != theirs[place][kind]]
        differing.update(kinds)
        if kinds:
            print(f"{place}: {', '.join(kinds)}")
    for python, only in ((first["python"], ours.keys() - theirs), (second["python"], theirs.keys() - ours)):
        for program, count in sorted(Counter(place.split()[0] for place in only).items()):
            print(f"{program}: {count} questions under {python} alone; is a library missing under the other?")
    counts = ", ".join(f"{differing[kind]} {kind}" for kind in KINDS)
    both = len(ours.keys() & theirs)
    print(f"Python {first['python']} and {second['python']}, {both} questions, differ: {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with the official data files")
    parser.add_argument("--write", type=Path, help="file for the truths by this Python")
    parser.add_argument("--jobs", type=int, help="programs at once; as many as cores where left out")
    parser.add_argument("--programs", help="comma-separated, such as DREval/117; all where left out")
    parser.add_argument("--compare", type=Path, nargs=2, help="two such files")
    options = parser.parse_args()
    if options.compare:
        compare(tuple(options.compare))
    elif options.data and options.write:
        only = options.programs.split(",") if options.programs else ()
        answers = asyncio.run(truths(options.data, options.jobs, only))
        options.write.write_text(json.dumps({"python": python_version(), "truths": answers}), "utf-8")
    else:
        parser.error("expected --data with --write, or --compare")


if __name__ == "__main__":
    main()
