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
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.many_results import full_suites, write_many


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
        suites = full_suites(official=which == "full")
        write_many(root / "results", names, suites, padding=padding)
        size = sum(path.stat().st_size for path in (root / "results").rglob("*.jsonl"))
        units = models * sum(suites.values())
        print(f"{models} models, {len(suites)} suites, {units:,} units, {size / 1e6:,.0f} MB of results")
        print(f"cold: {_timed(root):.1f} s", flush=True)
        print(f"nothing changed: {_timed(root):.1f} s", flush=True)
        write_many(root / "results", names[:1], suites, padding=padding, seed=2)
        print(f"one model changed: {_timed(root):.1f} s")
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print(f"peak memory of any process: {largest:.2f} GB")
        print(f"front page, compressed: {_front_page(root / '_site') / 1e3:.1f} kB")


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
