"""How long `loop/mbpp-plus` goes on at its end with few questions, because slow programs are executed.

    python benchmarks/loop_tail.py --data FOLDER --keys FOLDER [--slots 256] [--latency 2] [--jobs 16]

The real schedule and loop, on a clock that jumps: a scripted model answers after `latency` seconds with the
references, and a stand-in for the sandbox takes as long as the stored answer keys say that they compute. It
prints seconds of that clock, the same on every machine with these keys. Ten replies of a task are four texts
that are two programs, as those of a real model were for Mbpp/599. Three runs: every text is executed;
verdicts are kept by syntax tree; and units with slow references go first, too.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from benchmarks.clients.reference_scripts import right

from support.loop_fakes import FakeGrader, text_of
from support.virtual_time import run_virtually
from triathlon_runner.catalogue import BUILT_IN
from triathlon_runner.datasets import DataStore, FunctionProblem, Problem
from triathlon_runner.grading import stored_cpu_seconds
from triathlon_runner.llm import Answer, Chat, Completion, Sampling
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import Reply, Usage, Verdict
from triathlon_runner.schedule import (
    PROFILES,
    ConsoleProgress,
    OpenModel,
    Runner,
    RunPlan,
    choose,
    work_for,
)
from triathlon_runner.store import ResultsFolder

SUITE = "loop/mbpp-plus"
TEXTS = (0, 0, 0, 1, 1, 1, 2, 2, 2, 3)
"""Which of four texts each loop's reply is; the fourth is another program."""
_LEAST_SECONDS = 0.01
"""Of executing a fast program."""


@dataclass
class ScriptedModel:
    """Answers so many questions at once, each after `latency` seconds; notes when it had something to do."""

    latency: float
    slots: int
    texts: tuple[str, ...]
    """What follows the reference in the replies of a task, one after the other."""
    id: str = "scripted"
    kind: Literal["instruct", "base"] = "instruct"
    requests: int = 0
    busy_until: float = 0.0
    """When it last answered a tenth of the questions that it can."""
    _in_flight: int = 0

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.slots)
        self._programs: Counter[str] = Counter()

    async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
        """Returns the reference of the task, or a sentence that leads to it."""
        del sampling, sample
        async with self._free:
            self._in_flight += 1
            await asyncio.sleep(self.latency)
            if self._in_flight >= self.slots / 10:
                self.busy_until = asyncio.get_running_loop().time()
            self._in_flight -= 1
        self.requests += 1
        text = right(text_of(prompt), self.requests)
        if "```" in text:
            task = text[text.rindex("# task") :]
            text = text.replace(task, f"{self.texts[self._programs[task] % len(self.texts)]}{task}")
            self._programs[task] += 1
        return Answer(Reply(text=text), Usage(requests=1), self.latency, "scripted")


class TimedGrader(FakeGrader):
    """Passes every program after the seconds that its reference takes; `jobs` programs at once."""

    def __init__(self, jobs: int, seconds: Callable[[FunctionProblem], float]) -> None:
        super().__init__()
        self._slots, self._seconds = asyncio.Semaphore(jobs), seconds

    async def grade(
        self, program: str, problem: FunctionProblem, *, inputs: Literal["base", "all"] = "all"
    ) -> Verdict:
        """See `Grader.grade`."""
        async with self._slots:
            await asyncio.sleep(max(_LEAST_SECONDS, self._seconds(problem)))
        return await super().grade(program, problem, inputs=inputs)


class _Silent:
    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_, **__: None


@dataclass
class _Opener:
    model: ScriptedModel

    @asynccontextmanager
    async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
        del row
        model = cast(Any, self.model)
        yield OpenModel(model, served_by="a benchmark", served_model="x", slots=self.model.slots)


async def run(
    options: argparse.Namespace,
    texts: tuple[str, ...],
    seconds: Callable[[FunctionProblem], float],
    folder: Path,
    **how: Any,
) -> str:
    """One whole run; returns how long it took, in words."""
    model = ScriptedModel(options.latency, options.slots, texts)
    row = ModelRow.model_validate({"id": "m", "name": "M", "api": {"base_url": "http://x/v1", "model": "m"}})
    registry, entry = Registry(models=(row,)), BUILT_IN.find(SUITE)
    assert entry is not None
    suite = entry.build(DataStore(cache=folder, folder=options.data, fetch=False))
    plan = RunPlan(work={"m": work_for(registry, row, [choose(entry, suite, PROFILES["full"])])})
    runner = Runner(
        ResultsFolder(folder),
        TimedGrader(options.jobs, seconds),
        cast(Any, _Opener(model)),
        cast(ConsoleProgress, cast(Any, _Silent())),
        "full",
        **how,
    )
    summary = await runner.run(plan)
    assert not summary.open, summary
    total = asyncio.get_running_loop().time()
    return f"{total:5.0f} s, the last {total - model.busy_until:3.0f} s of them with few questions"


@dataclass
class KnownSeconds:
    """Seconds of references, each looked up once."""

    folder: Path
    _known: dict[str, float] = field(default_factory=dict)

    def __call__(self, problem: FunctionProblem) -> float:
        """0 where no key is stored."""
        if problem.task_id not in self._known:
            is_function = isinstance(problem, Problem)
            self._known[problem.task_id] = stored_cpu_seconds(self.folder, problem) if is_function else 0.0
        return self._known[problem.task_id]

    @property
    def slow(self) -> dict[str, float]:
        """Those above a second."""
        return {task: seconds for task, seconds in self._known.items() if seconds >= 1}


def main() -> None:
    """Runs and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--keys", type=Path, required=True, help="folder of answer keys")
    parser.add_argument("--slots", type=int, default=256, help="questions at once")
    parser.add_argument("--latency", type=float, default=2.0, help="seconds of one answer")
    parser.add_argument("--jobs", type=int, default=16, help="programs at once")
    options = parser.parse_args()
    os.environ["TRIATHLON_DATA"] = str(options.data)
    seconds = KnownSeconds(options.keys)
    all_differ = tuple("pass\n" * number for number in TEXTS)
    as_they_were = tuple("pass\n" * (number // 3) + "\n" * number for number in TEXTS)
    for name, texts, how in (
        ("every text is executed", all_differ, {}),
        ("verdicts kept by tree", as_they_were, {}),
        ("slow references first", as_they_were, {"reference_seconds": seconds}),
    ):
        with tempfile.TemporaryDirectory() as folder:
            told, _ = run_virtually(run(options, texts, seconds, Path(folder), **how))
        print(f"{name:<24} {told}", flush=True)
    print(f"slow references: {', '.join(f'{task} {count:.1f} s' for task, count in seconds.slow.items())}")


if __name__ == "__main__":
    main()
