"""How much memory the runner has at most during a whole run: `triathlon run` itself, with a scripted server.

    python benchmarks/run_memory.py --data FOLDER [--suites evolved/mbpp-plus] [--slots 64] [--keys FOLDER]

The server answers with the references of the official problems, half of the time changed so that long results
are wrong: what was expected and what came are then both read. With `--keys`, a folder of the cache, answer
keys that are there are not made again. Memory is the runner's own process (VmHWM); programs and server have
processes of their own. Mapped files count in it, and are named beside it. Exit code 1 above 700 MB.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.clients.server import fixed_server

MOST_BYTES = 700_000_000
_SECONDS_BETWEEN_LOOKS = 0.1


@dataclass(frozen=True, slots=True)
class Memory:
    """Resident bytes of a process: of its own, and of files that it maps."""

    anonymous: int = 0
    mapped: int = 0
    peak: int = 0
    """As the kernel noted it, both together."""

    @property
    def resident(self) -> int:
        return self.anonymous + self.mapped


def memory_of(pid: int) -> Memory:
    """Returns what /proc says; zeros where the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return Memory()
    sizes = {name: text.split() for name, _, text in (line.partition(":") for line in lines)}
    if "VmHWM" not in sizes:
        return Memory()
    return Memory(*(1024 * int(sizes[name][0]) for name in ("RssAnon", "RssFile", "VmHWM")))


def watched(process: "subprocess.Popen[bytes]") -> tuple[Memory, int]:
    """Waits for the end of a process; returns its memory where that was largest, and the kernel's peak."""
    largest, peak = Memory(), 0
    while process.poll() is None:
        now = memory_of(process.pid)
        largest, peak = max(largest, now, key=lambda memory: memory.resident), max(peak, now.peak)
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return largest, peak


def run(options: argparse.Namespace, base_url: str, folder: Path) -> tuple[Memory, int]:
    """One whole run in an empty folder.

    Raises:
        RuntimeError: units stay open.
    """
    cache = folder / "cache"
    cache.mkdir()
    if options.keys is not None:
        (cache / "keys").symlink_to(options.keys.resolve())
    api = {"base_url": base_url, "model": "scripted", "concurrency": options.slots}
    models = folder / "models.yaml"
    models.write_text(json.dumps({"models": [{"id": "scripted", "name": "Scripted", "api": api}]}))
    command = [sys.executable, "-m", "triathlon_site", "run", "--profile", "full"]
    command += ["--models-file", str(models), "--results", str(folder / "results")]
    command += ["--data", str(options.data), "--suites", options.suites]
    environment = {**os.environ, "TRIATHLON_CACHE": str(cache)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        measured = watched(process)
    if process.returncode:
        raise RuntimeError(f"expected a run that finishes, got exit code {process.returncode}")
    return measured


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the official data files")
    parser.add_argument("--suites", default="evolved/mbpp-plus", help="ids, separated by commas")
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--keys", type=Path, help="folder of answer keys to use and add to")
    options = parser.parse_args()
    os.environ["TRIATHLON_DATA"] = str(options.data)
    with (
        tempfile.TemporaryDirectory() as folder,
        fixed_server(0.05, "reference_scripts:wrong_where_long") as base_url,
    ):
        began = time.monotonic()
        memory, peak = run(options, base_url, Path(folder))
        seconds = time.monotonic() - began
        lines = sum(len(file.read_bytes().splitlines()) for file in Path(folder).rglob("*.jsonl"))
    print(
        f"{options.suites}: {lines} units in {seconds:.0f} s; peak {peak / 1e6:.0f} MB; at the largest look"
        f" {memory.anonymous / 1e6:.0f} MB of its own and {memory.mapped / 1e6:.0f} MB of mapped files"
    )
    sys.exit(1 if peak > MOST_BYTES else 0)


if __name__ == "__main__":
    main()
