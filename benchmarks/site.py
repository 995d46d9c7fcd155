"""How fast the site is built and how heavy it is; benchmarks/coverage.py: how often its intervals hold.

python benchmarks/site.py build --models 100 --suites full
python benchmarks/site.py tables --models 1000
"""

import argparse
import gzip
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.many_results import full_suites, write_many
from support.results import FakeModel, FakeSuite, write_results
from support.site import entries
from triathlon_runner.models_yaml import Registry
from triathlon_site.build import build


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    building = commands.add_parser("build", help="cold build, then one with one model changed")
    building.add_argument("--models", type=int, default=100)
    building.add_argument(
        "--suites",
        choices=("core", "full"),
        default="core",
        help="suites with all their tasks: our own problems, or the official data too",
    )
    building.add_argument("--padding", type=int, default=500, help="characters added to each program")
    building.set_defaults(
        run=lambda arguments: measure_build(arguments.models, arguments.suites, arguments.padding)
    )
    sorting = commands.add_parser(
        "tables", help="sorting, filtering and searching the front page in Chromium"
    )
    sorting.add_argument("--models", type=int, default=1000)
    sorting.add_argument("--keep", type=Path, help="folder that keeps the site for the next call")
    sorting.set_defaults(run=lambda arguments: measure_tables(arguments.models, arguments.keep))
    arguments = parser.parse_args()
    arguments.run(arguments)


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


THREE = ("loop/core", "runtime/core", "evolved/core-seeds")
ACTIONS = {
    "sort by a score": "document.querySelectorAll('thead .sort')[2].click()",
    "sort by name": "document.querySelectorAll('thead .sort')[1].click()",
    "filter by organisation": "choose('Organisation', 1 + turn % 2)",
    "filter by licence and organisation": "choose('Licence', 1 + turn % 2)",
    "all again": "choose('Organisation', 0); choose('Licence', 0)",
    "search": "search(turn % 2 ? 'model-00' : '')",
}
MEASURE = """([action, turns]) => {
  const choose = (label, place) => {
    const select = document.querySelector(`select[aria-label="${label}"]`);
    select.selectedIndex = place;
    select.dispatchEvent(new Event('change'));
  };
  const search = (text) => {
    const input = document.querySelector('input[type=search]');
    input.value = text;
    input.dispatchEvent(new Event('input'));
  };
  const act = new Function('turn', 'choose', 'search', action);
  return Array.from({ length: turns }, (_, turn) => {
    document.body.offsetHeight;
    const before = performance.now();
    act(turn, choose, search);
    const script = performance.now() - before;
    document.body.offsetHeight;  /* forces the layout */
    return [script, performance.now() - before];
  });
}"""


def measure_tables(models: int, keep: Path | None) -> None:
    """Median and worst milliseconds of an action, script alone and with the layout that follows."""
    with tempfile.TemporaryDirectory() as folder:
        root = keep or Path(folder)
        if not (root / "_site").exists():
            _build_many(root, models)
        with sync_playwright() as playwright:
            chromium = os.environ.get("TRIATHLON_CHROMIUM") or shutil.which("chromium")
            flags = ["--no-sandbox", "--disable-gpu"]
            browser = playwright.chromium.launch(executable_path=chromium, args=flags)
            page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
            page.goto((root / "_site/index.html").as_uri())
            page.wait_for_selector("thead .sort")
            shown, rows = page.locator("output.status").last.inner_text(), page.locator("tbody tr").count()
            print(f"{shown}, {rows} rows laid out, Chromium {browser.version}")
            for name, action in ACTIONS.items():
                times = page.evaluate(MEASURE, [action, 11])
                script, whole = (sorted(column) for column in zip(*times, strict=True))
                print(
                    f"{name}: script {script[5]:.0f} ms, with layout {whole[5]:.0f} (worst {whole[-1]:.0f})"
                )
            browser.close()


def _build_many(root: Path, models: int) -> None:
    fakes = [
        FakeModel(
            f"model-{i:04d}", -2 + 4 * (i * 37 % models) / models, 0.5 + 0.45 * (i * 7 % models) / models
        )
        for i in range(models)
    ]
    write_results(root / "results", fakes, [FakeSuite(entry, tasks=6) for entry in entries(THREE)])
    rows = [
        {
            "id": fake.id,
            "name": f"Model {place}",
            "organization": f"Organisation {place % 40}",
            "parameters": f"{1 + place % 90}B",
            "license": ("mit", "apache-2.0", "other")[place % 3],
            "open_weights": place % 3 != 2,
            "released": f"20{20 + place % 7}-0{1 + place % 9}",
            "api": {"base_url": "http://127.0.0.1:1/v1", "model": "m"},
        }
        for place, fake in enumerate(fakes)
    ]
    started = time.monotonic()
    build(root / "results", root / "_site", Registry.model_validate({"models": rows}), cache=root / "cache")
    print(f"built in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
