"""GGUF files become Hugging Face folders, once: vLLM cannot serve one as it is."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from triathlon_runner.serving._children import inherited_variables, run
from triathlon_runner.serving._environment import Engine
from triathlon_runner.serving._errors import ServingError, last_lines
from triathlon_runner.serving._preparing import exclusive_lock, progress_reports

_SCRIPT = Path(__file__).with_name("_convert_gguf.py")
# Counts up when the script writes something else for the same file.
RECIPE = 1


async def converted(
    gguf: Path, *, sha256: str, engine: Engine, cache: Path, report: Callable[[str], None]
) -> Path:
    """The folder converted from a GGUF file; made on first use, whole or not at all.

    Raises:
        ServingError: the file cannot be converted faithfully; the message carries the converter's words.
    """
    folder = cache / "converted" / f"{sha256[:16]}-{RECIPE}"
    async with exclusive_lock(folder, report):
        if not folder.exists():
            await _convert(gguf, folder, engine, report)
    return folder


async def _convert(gguf: Path, folder: Path, engine: Engine, report: Callable[[str], None]) -> None:
    report(f"converting {gguf.name[:16]}….gguf for vLLM (once)")
    started = time.monotonic()
    half, log = folder.with_name(folder.name + ".half"), folder.with_name(folder.name + ".log")
    shutil.rmtree(half, ignore_errors=True)
    log.unlink(missing_ok=True)
    offline = {**inherited_variables(), "HF_HUB_OFFLINE": "1"}
    async with progress_reports(f"converting {gguf.name[:16]}….gguf", report):
        status = await run([str(engine.python), str(_SCRIPT), str(gguf), str(half)], env=offline, log=log)
    if status:
        shutil.rmtree(half, ignore_errors=True)
        raise ServingError(f"could not convert {str(gguf)!r} (exit status {status}):\n{last_lines(log)}")
    half.replace(folder)
    report(f"converted in {time.monotonic() - started:.0f} s")
