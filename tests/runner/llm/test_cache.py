"""Replies are paid for once."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from triathlon_runner.errors import UserError
from triathlon_runner.llm import Answer, CacheError, ReplyCache
from triathlon_runner.llm._cache import reply_key
from triathlon_runner.records import Finish, Reply, Usage

WRITER = Path(__file__).with_name("cache_writer.py")


def answer(text: str) -> Answer:
    reply = Reply(text=text, reasoning="because", finish=Finish.LENGTH)
    return Answer(
        reply, Usage(requests=1, input_tokens=3, output_tokens=4, reasoning_tokens=1), 1.5, "served"
    )


def key(number: int) -> bytes:
    return reply_key({"number": number})


def test_gives_back_what_was_put(tmp_path: Path) -> None:
    """An answer comes back whole, with the usage and seconds of its day, also after closing the file."""
    path = tmp_path / "folder" / "replies.sqlite"
    with ReplyCache(path) as cache:
        assert cache.get(key(1)) is None
        assert cache.put(key(1), "m", answer("é\n\x00")) == answer("é\n\x00")
        assert cache.get(key(1)) == answer("é\n\x00")
    with ReplyCache(path) as cache:
        assert cache.get(key(1)) == answer("é\n\x00")
        assert cache.get(key(2)) is None


@pytest.mark.parametrize("change", ["provider", "model", "revision", "sample", "turn"])
def test_key_covers_everything(change: str) -> None:
    """Whatever shaped a reply is part of its key; the order in which it is named is not."""
    question = {"provider": "a", "model": "m", "revision": "", "sample": 0, "turn": 0}
    assert reply_key({**question, change: "other"}) != reply_key(question)
    assert reply_key(question, b'{"temperature":0}') != reply_key(question, b'{"temperature":1}')
    assert reply_key(dict(reversed(question.items()))) == reply_key(question)


def test_the_first_of_two_counts(tmp_path: Path) -> None:
    """Where two processes asked the same, both go on with the reply that was stored first."""
    path = tmp_path / "replies.sqlite"
    with ReplyCache(path) as one, ReplyCache(path) as other:
        assert one.put(key(1), "m", answer("first")) == answer("first")
        assert other.put(key(1), "m", answer("second")) == answer("first")
        assert other.get(key(1)) == answer("first")


def test_counted_by_model(tmp_path: Path) -> None:
    """Answers of several models are counted by model."""
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        for n in range(60):
            cache.put(key(n), f"m{n % 3}", answer(str(n)))
        info = cache.info()
    assert (info.replies, info.replies_by_model) == (60, {"m0": 20, "m1": 20, "m2": 20})
    assert info.size_bytes > 60 * 50


def test_prune(tmp_path: Path) -> None:
    """Replies can be dropped by model, or oldest first until the file is small enough."""
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        for n in range(400):
            cache.put(key(n), "ab"[n % 2], answer("x" * 1000))
        assert cache.prune(model="a") == 200
        assert cache.info().replies_by_model == {"b": 200}
        dropped = cache.prune(max_bytes=100_000)
        assert 0 < dropped < 200
        assert cache.info().replies == 200 - dropped
        assert cache.get(key(399)) is not None


@pytest.mark.parametrize("kind", ["folder", "no cache", "other format"])
def test_unusable_file(tmp_path: Path, kind: str) -> None:
    """A file that is no cache of ours is a user's error that names it; it is left as it was."""
    path = tmp_path / "replies.sqlite"
    if kind == "folder":
        path.mkdir()
    elif kind == "no cache":
        path.write_text("these are notes, and no data base\n" * 100)
    else:
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version=99")
        db.close()
    with pytest.raises(CacheError, match=r"replies\.sqlite") as caught:
        ReplyCache(path)
    assert isinstance(caught.value, UserError)
    if kind == "no cache":
        assert path.read_text().startswith("these are notes")


def test_full_disk(tmp_path: Path) -> None:
    """A reply that cannot be stored is an error that says so; what was stored before stays readable."""
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        cache.put(key(1), "m", answer("x"))
        pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
        cache._db.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(CacheError, match="full"):
            cache.put(key(2), "m", answer("x" * 100_000))
        assert cache.get(key(1)) == answer("x")
        cache._db.execute(f"PRAGMA max_page_count={pages + 1000}")
        cache.put(key(2), "m", answer("x" * 100_000))


def test_shared_between_processes(tmp_path: Path) -> None:
    """Several processes may open a new file at once and write to it: nothing is lost."""
    path = tmp_path / "replies.sqlite"
    command = [sys.executable, str(WRITER), str(path), "40"]
    writers = [subprocess.Popen([*command, str(1000 * n)], stdout=subprocess.PIPE) for n in range(2)]
    for writer in writers:
        assert writer.communicate(timeout=60)[0].count(b"\n") == 40
        assert writer.returncode == 0
    with ReplyCache(path) as cache:
        assert all(cache.get(key(1000 * n + i)) is not None for n in range(2) for i in range(40))
