"""Replies are paid for once: what the cache keeps, also of runs that are killed or share it."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from support.opened import opened
from support.server_replies import Response, Said, Status
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Answer, CacheError, Completion, ReplyCache, Sampling
from triathlon_runner.llm._cache import reply_key
from triathlon_runner.records import Finish, Reply, Usage


def answer(text: str) -> Answer:
    reply = Reply(text=text, reasoning="because", finish=Finish.LENGTH)
    usage = Usage(requests=1, input_tokens=3, output_tokens=4, reasoning_tokens=1)
    return Answer(reply, usage, 1.5, "served")


def key(number: int) -> bytes:
    return reply_key({"number": number})


def test_gives_back_what_was_put_first(tmp_path: Path) -> None:
    """An answer comes back whole, with usage and seconds, also after closing; the first of two counts."""
    path = tmp_path / "folder" / "replies.sqlite"
    with ReplyCache(path) as cache, ReplyCache(path) as other:
        assert cache.get(key(1)) is None
        assert cache.put(key(1), "m", answer("é\n\x00")) == answer("é\n\x00")
        assert other.put(key(1), "m", answer("second")) == answer("é\n\x00")
        assert cache.get(key(1)) == answer("é\n\x00")
    with ReplyCache(path) as cache:
        assert cache.get(key(1)) == answer("é\n\x00")
        assert cache.get(key(2)) is None


def test_key_covers_everything() -> None:
    """Whatever shaped a reply is part of its key; the order in which it is named is not."""
    question = {"provider": "a", "model": "m", "revision": "", "sample": 0, "turn": 0, "body": {"seed": 1}}
    changed = [reply_key({**question, name: "other"}) for name in question]
    assert len({*changed, reply_key(question)}) == len(question) + 1
    assert reply_key(dict(reversed(question.items()))) == reply_key(question)


def test_prune(tmp_path: Path) -> None:
    """Replies can be dropped by model, or oldest first until the file is small enough, as it then is."""
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        for n in range(400):
            cache.put(key(n), "ab"[n % 2], answer("x" * 1000))
        assert cache.replies_by_model() == {"a": 200, "b": 200}
        assert cache.size_bytes > 400 * 1000
        assert cache.prune(model="a") == 200
        assert cache.replies_by_model() == {"b": 200}
        dropped = cache.prune(max_bytes=100_000)
        assert 0 < dropped < 200
        assert cache.replies_by_model() == {"b": 200 - dropped}
        assert cache.get(key(399)) is not None
    assert (tmp_path / "replies.sqlite").stat().st_size <= 100_000


@pytest.mark.parametrize(
    ("said", "requests"),
    [
        (Said("x", finish="length", output_tokens=64), 1),
        (Said("x", finish="length", output_tokens=63), 2),
        (Status(400, "no", "content_filter"), 2),
        (Status(400, "no", "tool_use_failed"), 2),
        (Status(400, "Could not finish the message because max_tokens was reached"), 2),
    ],
    ids=["cut at the limit", "cut by the context", "refused", "no answer", "a limit as an error"],
)
async def test_which_replies_are_kept(tmp_path: Path, said: Response, requests: int) -> None:
    """What the context cut, or came as an error, is asked for again; what the token limit cut is not."""
    with ReplyCache(tmp_path / "replies.sqlite") as cache:
        async with opened(lambda _: said, "base", cache=cache) as (server, model):
            for _ in range(2):
                await model.ask(Completion("f"), Sampling(64))
    assert len(server.requests) == requests


def of_another_format(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=99")


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.write_text("a\n" * 999), of_another_format])
def test_unusable_file(tmp_path: Path, make: Callable[[Path], object]) -> None:
    """A file that is no cache of ours is a user's error that names it; it is left as it was."""
    path = tmp_path / "replies.sqlite"
    make(path)
    before = path.is_file() and path.read_bytes()
    with pytest.raises(CacheError, match=r"replies\.sqlite") as caught:
        ReplyCache(path)
    assert isinstance(caught.value, UserError)
    assert (path.is_file() and path.read_bytes()) == before


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


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Pages that were overwritten: every look at them says which file it is."""
    path = tmp_path / "replies.sqlite"
    with ReplyCache(path) as cache:
        for number in range(100):
            cache.put(key(number), "m", answer("x" * 1000))
    content = path.read_bytes()
    path.write_bytes(content[:8192] + bytes([7]) * (len(content) - 8192))
    with ReplyCache(path) as cache:
        for look in (cache.replies_by_model, lambda: cache.prune(model="m"), lambda: cache.get(key(50))):
            with pytest.raises(CacheError, match=r"replies\.sqlite"):
                look()


WRITER = """
import sys
from runner.llm.test_cache import Path, ReplyCache, answer, key
with ReplyCache(Path(sys.argv[1])) as cache:
    for number in range(int(sys.argv[2])):
        cache.put(key(number), "m", answer("x"))
        print(number, flush=True)
"""


def writer(cache: Path, count: int) -> "subprocess.Popen[str]":
    """A process of its own that stores so many replies, and prints the number of each that is stored."""
    command = [sys.executable, "-c", WRITER, str(cache), str(count)]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("lines", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (20, 60, 150))])
def test_kill(tmp_path: Path, lines: int) -> None:
    """Whatever was stored before a kill is there: what is asked again was in flight."""
    path = tmp_path / "replies.sqlite"
    with writer(path, 1_000_000) as killed:
        assert killed.stdout is not None
        stored = [killed.stdout.readline() for _ in range(lines)]
        killed.kill()
        stored += killed.stdout.readlines()
    with ReplyCache(path) as cache:
        assert all(cache.get(key(int(number))) for number in stored)


def test_two_at_once(tmp_path: Path) -> None:
    """Two processes may open a new cache at once and write to it: nothing is lost."""
    path = tmp_path / "replies.sqlite"
    processes = [writer(path, 200) for _ in range(2)]
    for process in processes:
        assert process.communicate()[0].split() == [str(number) for number in range(200)]
    with ReplyCache(path) as cache:
        assert cache.replies_by_model() == {"m": 200}
