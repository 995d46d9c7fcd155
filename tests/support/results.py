"""Synthetic results: models of a known strength on tasks of a known difficulty, as the runner writes them."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.records import (
    AnswerRecord,
    DataSetRecord,
    EvolvedRecord,
    FailingCase,
    LoopRecord,
    LoopStep,
    Manifest,
    Outcome,
    ProtocolHashes,
    Reply,
    RuntimeRecord,
    StatementRecord,
    UnitRecord,
    Usage,
    Verdict,
)
from triathlon_runner.suites import SuiteEntry

FAULTS = tuple(map(Outcome, ("failed", "failed", "crashed", "timed_out", "no_answer", "truncated")))


@dataclass(frozen=True)
class FakeModel:
    """A model that solves a task of difficulty d with probability 1 / (1 + exp(d - strength))."""

    id: str
    strength: float = 0.0
    robustness: float = 0.8
    """Chance that a solved program survives one more loop."""


@dataclass(frozen=True)
class FakeSuite:
    """So many tasks of a suite of the catalogue."""

    entry: SuiteEntry
    tasks: int = 20
    planned: int | None = None
    open_units: int = 0
    padding: int = 0
    """Characters added to each reply, to make files as large as real ones."""
    samples: int = 1

    @property
    def max_loops(self) -> int:
        """M: the metrics hold one point of the degradation curve a loop."""
        return 1 + sum(metric.id.startswith("sustain_") for metric in self.entry.metrics)


def write_results(
    root: Path, models: Sequence[FakeModel], suites: Sequence[FakeSuite], seed: int = 1
) -> None:
    """Writes `runs/<model>/<suite>.jsonl` and manifests under `root`."""
    for model in models:
        for suite in suites:
            records = list(fake_records(model, suite, seed))
            write_file(root, model.id, suite.entry.id, records, suite)


def write_file(
    root: Path, model: str, suite: str, records: Sequence[UnitRecord], fake: FakeSuite | None = None
) -> Path:
    path = root / "runs" / model / f"{suite}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(record.model_dump_json(by_alias=True) + "\n" for record in records))
    manifest = fake_manifest(model, suite, records, fake)
    path.with_name(path.name.removesuffix(".jsonl") + ".manifest.json").write_text(
        json.dumps(manifest.model_dump(mode="json", by_alias=True), indent=1)
    )
    return path


def fake_manifest(
    model: str, suite: str, records: Sequence[UnitRecord], fake: FakeSuite | None = None
) -> Manifest:
    in_suite = fake.tasks if fake else len(records)
    temperature = 0.8 if fake and fake.samples > 1 else 0.0
    return Manifest(
        suite=suite,
        model=model,
        served_model=model.upper(),
        served_by="vllm 0.32.0, float32, cpu",
        protocol=protocol_of(suite),
        settings={"temperature": temperature, "max_tokens": 1024, "prompts": {"generate": "ab" * 32}},
        data=DataSetRecord(name=suite.split("/")[1], version="1", sha256="cd" * 32),
        runner_version="0.1.0",
        engine_versions=(ENGINE_VERSION,),
        sandbox_level="namespaces",
        grader_integrity="not run",
        profile="quick" if fake and fake.planned else "standard",
        tasks_in_suite=in_suite,
        tasks_planned=fake.planned if fake and fake.planned else in_suite,
        open_units=fake.open_units if fake else 0,
        open_reasons={"429 too many requests": fake.open_units} if fake and fake.open_units else {},
        outcomes=dict(Counter(str(record.outcome) for record in records)),
        usage=sum((record.usage for record in records), Usage()),
        cost_usd=None,
        started="2026-01-02T03:04:05Z",
        ended="2026-01-02T03:14:05Z",
    )


def protocol_of(suite: str) -> ProtocolHashes:
    digest = hashlib.sha256(suite.encode()).hexdigest()
    return ProtocolHashes(asked=digest[:16], graded=digest[16:32])


def fake_records(model: FakeModel, suite: FakeSuite, seed: int = 1) -> Iterator[UnitRecord]:
    """One record a planned task. Task difficulties are the same for all models."""
    rng = np.random.default_rng(
        [seed, int.from_bytes(hashlib.sha256(f"{model.id} {suite.entry.id}".encode()).digest()[:4])]
    )
    make = {LoopRecord: _loop, RuntimeRecord: _runtime, EvolvedRecord: _evolved}[suite.entry.record]
    for index in range(suite.planned or suite.tasks):
        difficulty = 3 * np.sin(index * 12.9898)
        chance = 1 / (1 + np.exp(difficulty - model.strength))
        for sample in range(suite.samples):
            record = make(model, suite, index, float(chance), rng)
            yield record.model_copy(update={"sample": sample})


def task_id(suite: str, index: int) -> str:
    """Variants of a suite have its tasks."""
    return f"{suite.partition('/')[2].partition('@')[0]}/{index:03d}"


def _parents(suite: FakeSuite, index: int) -> tuple[str, ...]:
    """Two for a combined problem, the same for the two halves of a seed."""
    entry = suite.entry
    if entry.seeds is None or entry.seeds == entry.id:
        return ()
    if entry.set_name.startswith("combine"):
        return task_id(entry.seeds, index), task_id(entry.seeds, (index + 1) % suite.tasks)
    return (task_id(entry.seeds, index // 2 if entry.set_name == "decompose" else index),)


def _base(model: FakeModel, suite: FakeSuite, index: int, requests: int) -> dict[str, Any]:
    return {
        "suite": suite.entry.id,
        "model": model.id,
        "task_id": task_id(suite.entry.id, index),
        "protocol": protocol_of(suite.entry.id),
        "usage": Usage(requests=requests, input_tokens=180 * requests, output_tokens=90 * requests),
        "seconds": 0.5 * requests,
    }


def _fault(rng: np.random.Generator) -> Outcome:
    return FAULTS[int(rng.integers(len(FAULTS)))]


def _judged(program: str, outcome: Outcome) -> dict[str, Any]:
    """The fields of a reply that held this program, or none, and ended so."""
    if outcome in {Outcome.NO_ANSWER, Outcome.TRUNCATED}:
        return {"outcome": outcome, "program": "", "verdict": None}
    failing = FailingCase(index=3, input="('ab', 2)", expected="'aabb'", got="'abab'")
    verdict = Verdict(outcome=outcome, passed=3, total=12, failing=failing)
    if outcome is Outcome.PASSED:
        verdict = Verdict(outcome=outcome, passed=12, total=12)
    return {"outcome": outcome, "program": program, "verdict": verdict}


def _program(index: int, version: int, padding: int) -> str:
    body = "\n".join(f"    # step {n}: keep what is needed" for n in range(padding // 40))
    head = f"def repeat_{index}(text, times):  # version {version}\n"
    return f"{head}{body}\n    return ''.join(letter * times for letter in text)\n"


def _loop(
    model: FakeModel, suite: FakeSuite, index: int, chance: float, rng: np.random.Generator
) -> LoopRecord:
    steps: list[LoopStep] = []
    prompt = f"Write a function repeat_{index} that repeats each letter of a text."
    for loop in range(1, suite.max_loops + 1):
        passed = rng.random() < (chance if loop == 1 else model.robustness)
        outcome = Outcome.PASSED if passed else _fault(rng)
        program = _program(index, loop, suite.padding)
        text, often = f"Here it is:\n```python\n{program}```", "several" if loop % 2 else "many"
        summary = f"Create repeat_{index} so that every letter appears {often} times."
        asks = passed and loop < suite.max_loops
        steps.append(
            LoopStep(
                loop=loop,
                prompt=prompt,
                reply=Reply(text=text),
                summary_reply=Reply(text=summary) if asks else None,
                summary=summary if asks else None,
                **_judged(program, outcome),
            )
        )
        if not passed:
            break
        prompt = summary
    sustained = sum(step.outcome is Outcome.PASSED for step in steps)
    return LoopRecord(
        **_base(model, suite, index, 2 * len(steps)),
        outcome=steps[-1].outcome,
        max_loops=suite.max_loops,
        sustained_loops=sustained,
        loops=tuple(steps),
        similarity=round(float(rng.random()), 2) if 1 <= sustained < suite.max_loops else None,
    )


def _answer(right: bool, expected: str, wrong: str) -> AnswerRecord:
    text = expected if right else wrong
    outcome = Outcome.PASSED if right else Outcome.FAILED
    reply = Reply(text=f"[THOUGHT] The loop runs twice. [/THOUGHT] [ANSWER]{text}[/ANSWER]")
    return AnswerRecord(reply=reply, answer=text, expected=(expected,), outcome=outcome, correct=right)


def _runtime(
    model: FakeModel, suite: FakeSuite, index: int, chance: float, rng: np.random.Generator
) -> RuntimeRecord:
    statements = []
    for line in (2, 3, 5):
        coverage, state, path = (bool(draw < chance) for draw in rng.random(3))
        statements.append(
            StatementRecord(
                line=line,
                variable="total",
                coverage=_answer(coverage, "YES", "NO"),
                state=_answer(state, "6; int", "5; int"),
                path=_answer(path, "    return total", "    total = 0"),
            )
        )
    output = _answer(bool(rng.random() < chance), "6", "7")
    answers = [a for s in statements for a in (s.coverage, s.state, s.path)] + [output]
    right = all(answer.correct for answer in answers)
    program = "def add(values):\n    total = 0\n    for v in values:\n        total += v\n    return total\n"
    return RuntimeRecord(
        **_base(model, suite, index, 10),
        outcome=Outcome.PASSED if right else Outcome.FAILED,
        style="direct",
        program_id=f"program/{index // 3:03d}",
        program=program + "\n" * (suite.padding // 80),
        input="add([1, 2, 3])",
        statements=tuple(statements),
        output=output,
    )


def _evolved(
    model: FakeModel, suite: FakeSuite, index: int, chance: float, rng: np.random.Generator
) -> EvolvedRecord:
    outcome = Outcome.PASSED if rng.random() < chance else _fault(rng)
    program = _program(index, 1, suite.padding)
    return EvolvedRecord(
        **_base(model, suite, index, 1),
        **_judged(program, outcome),
        prompt=f'def repeat_{index}(text, times):\n    """Repeats each letter of a text."""\n',
        reply=Reply(text=f"```python\n{program}```"),
        parents=_parents(suite, index),
    )
