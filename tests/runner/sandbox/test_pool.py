"""The servers that a local sandbox keeps."""

from typing import Any, cast

from triathlon_runner.sandbox import Language
from triathlon_runner.sandbox._local import LocalSandbox


class _Idle:
    """Stands in for a server; while it is closed, a program of a new kind comes."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox = sandbox
        self.closed = False

    async def close(self) -> None:
        self._sandbox._idle.setdefault((Language.PYTHON, frozenset({f"new{id(self)}"})), [])
        self.closed = True


async def test_servers_are_retired_while_new_kinds_come() -> None:
    """A place keeps two idle servers and two more; those beyond are closed, whatever happens meanwhile."""
    sandbox = LocalSandbox("lite", jobs=1)
    servers = [_Idle(sandbox) for _ in range(7)]
    for number, server in enumerate(servers):
        sandbox._idle[Language.PYTHON, frozenset({f"library{number}"})] = cast(Any, [server])
    await sandbox._retire_surplus((Language.PYTHON, frozenset({"library0"})))
    assert not servers[0].closed
    assert sum(server.closed for server in servers) == 3
