"""Builds all questions of DREval and lists where our constructor does not choose the official pair.

Run: `TRIATHLON_DATA=<folder> python benchmarks/runtime_questions.py`
"""

import ast
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from triathlon_runner.datasets import DataStore
from triathlon_runner.runtime._construct import construct
from triathlon_runner.runtime._programs import dreval_programs
from triathlon_runner.runtime._questions import FilterReport, ProgramQuestions
from triathlon_runner.runtime._sandboxed.select import returned
from triathlon_runner.sandbox import open_sandbox

Pair = tuple[str, int, int, str]
"""Program, input, line, variable."""


async def built(
    unanswered: Sequence[ProgramQuestions],
) -> tuple[tuple[ProgramQuestions, ...], FilterReport, float]:
    """The questions, the filter report and the seconds that it took."""
    async with open_sandbox() as sandbox:
        start = time.perf_counter()
        programs, report = await construct(unanswered, sandbox)
        return programs, report, time.perf_counter() - start


def pairs_of(programs: Sequence[ProgramQuestions]) -> set[Pair]:
    return {
        (program.task_id, asked.index, statement.line, statement.variable)
        for program in programs
        for asked in program.inputs
        for statement in asked.statements
    }


def reason(program: str, pair: Pair, ours: set[Pair]) -> str:
    """Why the official pair was not chosen, as far as the text of the program tells."""
    line, variable = pair[2], pair[3]
    tree = ast.parse(program)
    around = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _holds(node, line)]
    known = {node.id for node in ast.walk(around[-1]) if isinstance(node, ast.Name)}
    known |= {argument.arg for argument in ast.walk(around[-1]) if isinstance(argument, ast.arg)}
    read = {node.id for node in ast.walk(ast.parse(variable)) if isinstance(node, ast.Name)}
    if not read <= known:
        return "a variable that the function does not have"
    statement = next(node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno == line)
    if variable in returned(statement):
        return "another name of the returned tuple"
    if any(chosen[:3] == pair[:3] for chosen in ours):
        return "another variable that comes first by our rules"
    return "no value there, none with a literal form, or one too long to ask for"


def _holds(function: ast.FunctionDef, line: int) -> bool:
    return function.lineno <= line <= (function.end_lineno or 0)


def official_programs() -> Sequence[ProgramQuestions]:
    folder = Path(os.environ.get("TRIATHLON_DATA", "../shared/datasets"))
    if not folder.is_dir():
        sys.exit(f"needs the official data files: no folder {str(folder)!r}; name one in TRIATHLON_DATA")
    with tempfile.TemporaryDirectory() as cache:
        return dreval_programs(DataStore(cache=Path(cache), folder=folder, fetch=False))


async def main(named: Sequence[ProgramQuestions]) -> None:
    programs, report, seconds = await built(named)
    print(f"official questions: {report.questions} on {report.inputs} inputs of {report.programs} programs")
    print(f"built in {seconds:.1f} s on {len(os.sched_getaffinity(0))} cores")
    unnamed = [
        program.model_copy(
            update={"inputs": tuple(asked.model_copy(update={"statements": ()}) for asked in program.inputs)}
        )
        for program in named
    ]
    chosen, report, _ = await built(unnamed)
    official, ours = pairs_of(programs), pairs_of(chosen)
    share = len(official & ours) / len(official)
    print(f"our constructor: {len(ours)} questions, {share:.1%} of the official pairs among them")
    print(report.model_dump_json(indent=1))
    texts = {program.task_id: program.program for program in named}
    rest = {pair: reason(texts[pair[0]], pair, ours) for pair in sorted(official - ours)}
    for why, count in Counter(rest.values()).most_common():
        print(f"{count:4} {why}")
        places = {(pair[0], pair[2], pair[3]) for pair, reason_given in rest.items() if reason_given == why}
        for place in sorted(places):
            print("      ", *place)


if __name__ == "__main__":
    asyncio.run(main(official_programs()))
