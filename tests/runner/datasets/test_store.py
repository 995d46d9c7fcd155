"""The data store: folder, cache, network, in this order, and never a file that is not the pinned one."""

import gzip
import hashlib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from triathlon_runner.datasets import DataFile, DataStore, DataUnavailableError

CONTENT = b'{"task_id": "a/0"}\n'
PACKED = gzip.compress(CONTENT, mtime=0)
NOWHERE = "http://127.0.0.1:9/none"
LITERAL = "\nOne {place}.\n"


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _file(url: str = NOWHERE, sha256: str = _hash(PACKED)) -> DataFile:
    return DataFile("rows.jsonl.gz", url, sha256, "v1", "MIT")


BY_CONTENT = DataFile("rows.jsonl", NOWHERE, _hash(CONTENT), "v1", "MIT")


@pytest.fixture
def release(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """A server that has `/whole` and redirects `/moved`; what it was asked for."""
    asked: list[str] = []
    folder = tmp_path_factory.mktemp("release")
    (folder / "moved").mkdir()
    for name in ("whole", "moved/index.html"):
        (folder / name).write_bytes(PACKED)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.mark.parametrize(
    ("name", "data", "file"),
    [
        ("rows.jsonl.gz", PACKED, _file()),
        ("rows.jsonl", CONTENT, BY_CONTENT),
        ("rows.jsonl.gz", PACKED, BY_CONTENT),
    ],
)
def test_folder_first(tmp_path: Path, name: str, data: bytes, file: DataFile) -> None:
    """A file in the folder is read and nobody is asked for it; pinned by its content it may be compressed."""
    (tmp_path / name).write_bytes(data)
    store = DataStore(cache=tmp_path / "cache", folder=tmp_path)
    assert store.read(file) == CONTENT and store.has(file)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("data", [b"other", PACKED[:12]], ids=["another file", "a torn one"])
def test_wrong_file_in_folder(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "rows.jsonl.gz").write_bytes(data)
    for file in (_file(), BY_CONTENT):
        with pytest.raises(DataUnavailableError, match=f"expected SHA-256 {file.sha256}, got {_hash(data)}"):
            DataStore(cache=tmp_path / "c", folder=tmp_path).read(file)


def test_fetched_once(tmp_path: Path, release: tuple[str, list[str]]) -> None:
    """Redirections are followed; a spoilt file is fetched again; a cache that is no folder is named."""
    base, asked = release
    store = DataStore(cache=tmp_path / "deep" / "cache")
    kept = tmp_path / "deep" / "cache" / "rows.jsonl.gz"
    for _ in range(2):
        assert store.read(_file(f"{base}/moved")) == CONTENT
    assert asked == ["/moved", "/moved/"]
    assert list(kept.parent.iterdir()) == [kept]
    kept.write_bytes(b"spoilt")
    assert store.read(_file(f"{base}/whole")) == CONTENT
    assert kept.read_bytes() == PACKED
    with pytest.raises(DataUnavailableError, match="can't be written"):
        DataStore(cache=kept).read(_file(f"{base}/whole"))


@pytest.mark.parametrize(
    ("path", "sha256", "fault"),
    [("whole", "0000", "expected SHA-256 0000"), ("absent", _hash(PACKED), "fetching it failed")],
)
def test_a_failed_download_is_not_kept(
    tmp_path: Path, release: tuple[str, list[str]], path: str, sha256: str, fault: str
) -> None:
    with pytest.raises(DataUnavailableError, match=fault):
        DataStore(cache=tmp_path).read(_file(f"{release[0]}/{path}", sha256))
    assert list(tmp_path.iterdir()) == []


def test_no_network(tmp_path: Path, release: tuple[str, list[str]]) -> None:
    """The message names the places that were looked at and the way out; `fetch=False` asks nobody."""
    with pytest.raises(DataUnavailableError) as caught:
        DataStore(cache=tmp_path / "c", folder=tmp_path).read(_file())
    for part in (str(tmp_path / "c"), "--data", "TRIATHLON_DATA", NOWHERE):
        assert part in str(caught.value)
    base, asked = release
    with pytest.raises(DataUnavailableError, match="switched off"):
        DataStore(cache=tmp_path, fetch=False).read(_file(f"{base}/whole"))
    (tmp_path / _file().name).write_bytes(b"spoilt")
    with pytest.raises(DataUnavailableError, match="expected SHA-256"):
        DataStore(cache=tmp_path, fetch=False).read(_file(f"{base}/whole"))
    assert asked == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ('import os\nTEXT = ("\\nOne "\n        "{place}.\\n")\nraise SystemExit', ""),
        ("TEXT = 'another'", "expected SHA-256"),
        ("TEXT = open('x').read()", "expected a text named 'TEXT'"),
        ("TEXT = '", "expected a text named 'TEXT'"),
    ],
)
def test_a_text_of_python(tmp_path: Path, source: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A literal is read without executing its file, pinned by its own hash, and kept as that text."""
    monkeypatch.setattr("triathlon_runner.datasets._store.fetch", lambda _url: source.encode())
    digest = _hash(LITERAL.encode())
    file = DataFile("texts/one.txt", "http://127.0.0.1:9/a.py", digest, "v1", "MIT", literal="TEXT")
    store = DataStore(cache=tmp_path)
    if fault:
        with pytest.raises(DataUnavailableError, match=fault):
            store.read(file)
        return
    assert store.read(file) == (tmp_path / "texts" / "one.txt").read_bytes() == LITERAL.encode()
    assert DataStore(cache=tmp_path / "none", folder=tmp_path, fetch=False).read(file) == LITERAL.encode()
