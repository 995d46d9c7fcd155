"""How fast the site is built, how heavy it is, and how often its intervals hold the truth.

python benchmarks/site.py build --models 100 --tasks 378
python benchmarks/site.py coverage
"""

import argparse
import gzip
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from support.statistics import sample_of
from triathlon_site.build import build
from triathlon_site.uncertainty import draw, interval


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    building = commands.add_parser("build", help="cold build, then one with one model changed")
    building.add_argument("--models", type=int, default=100)
    building.add_argument("--tasks", type=int, default=100, help="tasks of each suite")
    building.add_argument("--padding", type=int, default=0, help="characters added to each program")
    building.set_defaults(
        run=lambda arguments: measure_build(arguments.models, arguments.tasks, arguments.padding)
    )
    covering = commands.add_parser("coverage", help="share of intervals that hold the true score")
    covering.add_argument("--experiments", type=int, default=1000)
    covering.set_defaults(run=lambda arguments: measure_coverage(arguments.experiments))
    arguments = parser.parse_args()
    arguments.run(arguments)


def measure_build(models: int, tasks: int, padding: int) -> None:
    """Wall time cold and after one model changed, peak memory, and the weight of the front page."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        fakes = [
            FakeModel(f"model-{i:04d}", -2 + 4 * i / models, 0.5 + 0.45 * (i * 7 % models) / models)
            for i in range(models)
        ]
        suites = [FakeSuite(entry, tasks=tasks, padding=padding) for entry in entries()]
        write_results(root / "results", fakes, suites)
        size = sum(path.stat().st_size for path in (root / "results").rglob("*.jsonl"))
        print(f"{models} models, {tasks} tasks a suite, {size / 1e6:.0f} MB of results")
        print(f"cold: {_timed(root):.1f} s")
        print(f"nothing changed: {_timed(root):.1f} s")
        write_results(root / "results", fakes[:1], suites, seed=2)
        print(f"one model changed: {_timed(root):.1f} s")
        own, workers = (
            resource.getrusage(who).ru_maxrss / 1e6
            for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(f"peak memory: {own:.2f} GB, largest worker {workers:.2f} GB")
        print(f"front page, compressed: {_front_page(root / '_site') / 1e3:.1f} kB")


def _timed(root: Path) -> float:
    started = time.monotonic()
    build(root / "results", root / "_site", None, cache=root / "cache")
    return time.monotonic() - started


def _front_page(site: Path) -> int:
    """Bytes of the page with its style and scripts, each gzipped."""
    names = ("site-*.css", "theme-*.js", "site-*.js", "tables-*.js")
    parts = [site / "index.html", *(next(site.glob(f"assets/{name}")) for name in names)]
    return sum(len(gzip.compress(path.read_bytes())) for path in parts)


def measure_coverage(experiments: int) -> None:
    """Nominal 95 %: pass/fail tasks of several chances, and ASL of a model that mostly fails."""
    random = np.random.default_rng(1)
    loops = np.arange(11) ** 2 / 10
    rare = np.array([0.9, 0.05, 0.02, 0.01, 0, 0, 0, 0, 0, 0, 0.02])
    for tasks in (10, 20, 50, 200):
        for chance in (0.03, 0.1, 0.3, 0.5, 0.9):
            outcomes = (random.random((experiments, tasks)) < chance).astype(float)
            print(f"pass@1 {chance}, {tasks} tasks: {_coverage(outcomes, chance, 1):.3f}")
        outcomes = random.choice(loops, size=(experiments, tasks), p=rare)
        print(f"ASL of a weak model, {tasks} tasks: {_coverage(outcomes, float(loops @ rare), 10):.3f}")


def _coverage(outcomes: np.typing.NDArray[np.float64], truth: float, maximum: float) -> float:
    sample = sample_of({str(row): list(values) for row, values in enumerate(outcomes)}, maximum=maximum)
    found = interval(draw(sample, 2000), sample.scores())
    return float(np.mean([one.low <= truth <= one.high for one in found]))


if __name__ == "__main__":
    main()
