"""What attacks could steal or damage in one run, and the checks that show what they did."""

import json
import os
import secrets
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from pytest import MonkeyPatch

from triathlon_runner.sandbox._worker import BOOT

_VICTIM = "nobody has touched this\n"


class Canary:
    """Secrets, a victim and listeners in a folder that everybody may write to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(16)
        first = _listener(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._listeners = [
            first,
            _listener(socket.AF_INET, socket.SOCK_DGRAM, first.getsockname()),
            _listener(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "listener.sock")),
            _listener(socket.AF_UNIX, socket.SOCK_DGRAM, str(folder / "datagrams.sock")),
        ]
        port, site = str(first.getsockname()[1]), sysconfig.get_paths()["purelib"]
        self.places = {"CANARY": str(folder), "PORT": port, "SITE": site}
        self.reset()

    def reset(self) -> None:
        """Puts everything back into its place."""
        for path in self._folder.glob("loot_*"):
            path.unlink()
        (self._folder / "home" / ".ssh").mkdir(parents=True, exist_ok=True)
        for name in ("secret.txt", "home/.ssh/id_canary", "answers.json", "results.jsonl"):
            (self._folder / name).write_text(json.dumps({"secret": self._token}), encoding="utf-8")
        (self._folder / "victim.txt").write_text(_VICTIM, encoding="utf-8")
        for path in (self._folder, *self._folder.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        self._known = {str(path) for path in self._folder.rglob("*")}

    def stolen(self, printed: str) -> str:
        """What was stolen, or empty: the secret or a trace of it in the output, or a connection."""
        if self._token in printed:
            return "a secret is in the output"
        if "LOOT:" in printed:
            return printed[printed.index("LOOT:") :].splitlines()[0][:100]
        for listener in self._listeners:
            with suppress(BlockingIOError):
                listener.accept() if listener.type == socket.SOCK_STREAM else listener.recv(64)
                return "a connection was made"
        return ""

    def damage(self) -> str:
        """What changed on this machine, or empty."""
        with suppress(OSError):
            if (self._folder / "victim.txt").read_text(encoding="utf-8") != _VICTIM:
                return "the victim was written to"
            standard, site = (Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib"))
            libraries = [standard, standard / "__pycache__", site, *map(Path, sys.path)]
            open_folders = [Path(tempfile.gettempdir()), Path("/var/tmp"), Path("/dev/shm"), Path.cwd()]
            changed = {str(path) for path in self._folder.rglob("*")} ^ self._known
            changed |= {str(path) for one in open_folders for path in one.glob("message-in-a-bottle*")}
            changed |= {str(path) for one in libraries for path in one.glob("canary_poison*")}
            return min(changed, default="")
        return "the victim is gone"

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()


def _listener(family: int, kind: int, address: Any) -> socket.socket:
    listener = socket.socket(family, kind)
    listener.bind(address)
    listener.setblocking(False)
    if kind == socket.SOCK_STREAM:
        listener.listen()
    return listener


@contextmanager
def canary() -> Iterator[Canary]:
    """A canary for the length of one run, with its key in the runner's own environment."""
    with tempfile.TemporaryDirectory(prefix="triathlon-canary-") as folder, MonkeyPatch.context() as patch:
        patch.setenv("TRIATHLON_CANARY_API_KEY", folder)
        with closing(Canary(Path(folder))) as canary:
            yield canary


def count_server_processes() -> int:
    """How many processes were forked from a sandbox server of this runner, servers included.

    A fork keeps the command line of what it was forked from, wherever it has been re-parented to.
    """
    parents: dict[int, int] = {}
    servers: set[int] = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if os.fsencode(BOOT) in (entry / "cmdline").read_bytes():
                servers.add(int(entry.name))

    def is_ours(pid: int) -> bool:
        return pid == os.getpid() or (pid > 1 and is_ours(parents.get(pid, 0)))

    return sum(parents[pid] == 1 or is_ours(pid) for pid in servers)
