"""What attacks could steal or damage in one run, and the checks that show what they did."""

import json
import os
import secrets
import socket
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from triathlon_runner.sandbox._worker import BOOT

_KEY = "TRIATHLON_CANARY_API_KEY"
_VICTIM = "nobody has touched this\n"
_BOTTLE = "message-in-a-bottle"
_POISON = "canary_poison*"


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
            new = {str(path) for path in self._folder.rglob("*")} ^ self._known
            left = [path for folder in _open_folders() for path in folder.glob(f"{_BOTTLE}*")]
            poison = [path for folder in _libraries() for path in folder.glob(_POISON)]
            return str(sorted([*new, *map(str, [*left, *poison])])[0]) if new or left or poison else ""
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


def _open_folders() -> tuple[Path, ...]:
    return Path(tempfile.gettempdir()), Path("/var/tmp"), Path("/dev/shm"), Path.cwd()


def _libraries() -> Iterator[Path]:
    standard = Path(sysconfig.get_paths()["stdlib"])
    yield from (standard, standard / "__pycache__", Path(sysconfig.get_paths()["purelib"]))
    yield from (Path(path) for path in sys.path if Path(path).is_dir())


@contextmanager
def canary() -> Iterator[Canary]:
    """A canary for the length of one run, with its key in the runner's own environment."""
    with tempfile.TemporaryDirectory(prefix="triathlon-canary-") as folder:
        canary = Canary(Path(folder))
        os.environ[_KEY] = canary.places["CANARY"]
        try:
            yield canary
        finally:
            del os.environ[_KEY]
            canary.close()


def server_processes() -> set[int]:
    """Processes that were forked from a sandbox server of this runner, servers included.

    A fork keeps the command line of what it was forked from, wherever it has been re-parented to.
    """
    parents: dict[int, int] = {}
    ours: set[int] = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError, IndexError, ValueError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if os.fsencode(BOOT) in (entry / "cmdline").read_bytes():
                ours.add(int(entry.name))
    return {pid for pid in ours if _descends(pid, parents) or parents.get(pid) == 1}


def _descends(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        pid = parents.get(pid, 0)
        if pid == os.getpid():
            return True
    return False
