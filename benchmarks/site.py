"""How fast the site is built and how heavy its front page is.

python benchmarks/site.py --models 100 --suites full
"""

import argparse
import gzip
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.results import FakeModel, FakeSuite, fake_records, write_file
from triathlon_runner import catalogue
from triathlon_runner.records import PredictionRecord

POOL = tuple(FakeModel(f"pool-{place}", -2 + place / 2, 0.5 + place / 18) for place in range(9))
"""Each of the many takes every unit from one of these near its own strength, so that no two are alike."""
TASKS = {"loop": 200, "translation": 200, "runtime": 500, "evolved": 100}
"""Of a suite under `run --profile full` with the official data, in the mean of a discipline."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument(
        "--suites",
        choices=("core", "full"),
        default="core",
        help="suites with all their tasks: our own problems, or the official data too",
    )
    parser.add_argument("--padding", type=int, default=500, help="characters added to each program")
    arguments = parser.parse_args()
    measure_build(arguments.models, arguments.suites, arguments.padding)


def measure_build(models: int, which: str, padding: int) -> None:
    """Wall time cold and after one model changed, peak memory, and the weight of the front page."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = [f"model-{place:04d}" for place in range(models)]
        entries = [
            entry
            for entry in catalogue.select()
            if entry.core or (which == "full" and entry.record is not PredictionRecord)
        ]
        suites = [FakeSuite(entry, tasks=TASKS[entry.discipline], padding=padding) for entry in entries]
        write_many(root / "results", names, suites)
        size = sum(path.stat().st_size for path in (root / "results").rglob("*.jsonl"))
        units = models * sum(suite.tasks for suite in suites)
        print(f"{models} models, {len(suites)} suites, {units:,} units, {size / 1e6:,.0f} MB of results")
        print(f"cold: {_timed(root):.1f} s", flush=True)
        print(f"nothing changed: {_timed(root):.1f} s", flush=True)
        write_many(root / "results", names[:1], suites, seed=2)
        print(f"one model changed: {_timed(root):.1f} s")
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print(f"peak memory of any process: {largest:.2f} GB")
        print(f"front page, compressed: {_front_page(root / '_site') / 1e3:.1f} kB")


def write_many(root: Path, models: Sequence[str], suites: Sequence[FakeSuite], seed: int = 1) -> None:
    """Writes results of many models of different strengths."""
    random = np.random.default_rng(seed)
    middles = np.linspace(1, len(POOL) - 2, len(models))
    for suite in suites:
        pool = [list(fake_records(fake, suite)) for fake in POOL]
        for model, middle in zip(models, middles, strict=True):
            near = np.clip(np.rint(random.normal(middle, 0.8, suite.tasks)), 0, len(POOL) - 1).astype(int)
            records = [
                pool[place][unit].model_copy(update={"model": model}) for unit, place in enumerate(near)
            ]
            write_file(root, model, suite.entry.id, records, suite)


def _timed(root: Path) -> float:
    """Seconds of the command, as a user calls it."""
    program = str(Path(sys.executable).with_name("triathlon"))
    started = time.monotonic()
    subprocess.run(
        [program, "build", "--results", str(root / "results"), "--out", str(root / "_site")],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=root,
        env={**os.environ, "TRIATHLON_CACHE": str(root / "cache")},
    )
    return time.monotonic() - started


def _front_page(site: Path) -> int:
    """Bytes of the page with the scripts and styles that it loads, each gzipped."""
    page = (site / "index.html").read_text()
    loaded = sorted(set(re.findall(r"assets/[\w.-]+\.(?:js|css)", page)))
    parts = [site / "index.html", *(site / name for name in loaded)]
    return sum(len(gzip.compress(path.read_bytes())) for path in parts)


if __name__ == "__main__":
    main()
