"""Folders of weights and adapters are told apart in the manifest."""

import sys
from pathlib import Path
from typing import Any

import pytest

from triathlon_runner.serving import ServeConfig, ServingError
from triathlon_runner.serving._engine import Engine
from triathlon_runner.serving._weights import Loadable, prepare_weights


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"\0" * 3_000_000)
    return folder


async def _loadable(folder: Path, **block: Any) -> Loadable:
    row = {"engine": "vllm", "weights": {"path": folder}, **block}
    engine = Engine(Path(sys.executable), "vllm", "1")
    config = ServeConfig.model_validate(row)
    return await prepare_weights(config, engine=engine, cache=folder.parent, report=lambda _: None)


async def test_a_folder_is_served_where_it_lies(folder: Path) -> None:
    """A folder is not copied, and its name stands in the manifest without its place on this machine."""
    loadable = await _loadable(folder)
    assert loadable.model == str(folder)
    assert loadable.origin.startswith("folder model, fingerprint:")


async def test_other_weights_have_another_fingerprint(folder: Path) -> None:
    """Two states of a folder are not confused; a copy is the same."""
    before = (await _loadable(folder)).origin
    copy = folder.parent / "copy" / "model"
    copy.mkdir(parents=True)
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    assert (await _loadable(copy)).origin == before
    (folder / "model.safetensors").write_bytes(b"\0" * 2_999_999 + b"\1")
    assert (await _loadable(folder)).origin != before


async def test_an_adapter_is_part_of_what_is_served(folder: Path) -> None:
    """An adapter stands in the manifest; a folder that is none is refused."""
    with pytest.raises(ServingError, match=r"adapter_config\.json"):
        await _loadable(folder, lora=folder)
    adapter = folder.parent / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    assert "; adapter adapter, fingerprint:" in (await _loadable(folder, lora=adapter)).origin


async def test_failed_conversion_keeps_nothing(tmp_path: Path) -> None:
    """A GGUF file that cannot be converted is an error with the converter's words, and leaves no folder."""
    gguf = tmp_path / "broken.gguf"
    gguf.write_bytes(b"not a GGUF file")
    with pytest.raises(ServingError, match="could not convert"):
        await _loadable(gguf)
    assert not [path for path in (tmp_path / "converted").iterdir() if path.is_dir()]
