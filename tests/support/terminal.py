"""A command in a terminal of its own, and what a person would see on its screen.

In a test: ``with Terminal(["triathlon", "run"], columns=80) as terminal: terminal.wait_for("done")``.
As a program, for logs: ``python -m support.terminal make leaderboard`` runs a command in a terminal of
80 × 24, prints each line once it has left the screen, then the last screen, and ends with its exit code.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Final, Self

import pexpect
import pyte

CTRL_C: Final = "\x03"


class _Screen(pyte.HistoryScreen):
    """Keeps what is cleared as a whole above the window, as many terminals do."""

    def erase_in_display(self, how: int = 0, *more: Any, **settings: Any) -> None:
        if how == 2 or (how == 0 and (self.cursor.x, self.cursor.y) == (0, 0)):
            self.history.top.extend(copy(self.buffer[row]) for row in range(self.lines))
        super().erase_in_display(how, *more, **settings)


class Terminal:
    """Runs a command under a pseudo-terminal and keeps the picture on its screen up to date."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Starts the command; `environment` is all that it gets, with TERM=xterm-256color if left out."""
        self._screen = _Screen(columns, rows, history=100_000, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self.output = b""
        """Every byte that was written to the terminal."""
        self._process: pexpect.spawn[bytes] = pexpect.spawn(
            command[0],
            list(command[1:]),
            cwd=str(folder) if folder else None,
            env={"TERM": "xterm-256color", **(environment or {})},
            dimensions=(rows, columns),
            timeout=None,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close(force=True)

    @property
    def screen(self) -> str:
        """The lines on the screen, without blanks at their ends and empty lines below the last one."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n")

    @property
    def text(self) -> str:
        """Everything that can be seen by scrolling up, and the screen."""
        return "\n".join([*self._above(), self.screen])

    def _above(self) -> list[str]:
        width = self._screen.columns
        return [
            "".join(line[column].data for column in range(width)).rstrip()
            for line in self._screen.history.top
        ]

    def wait_for(self, what: str | Callable[[], bool], seconds: float = 60.0) -> None:
        """Reads until the text has been seen, or the condition holds."""

        def happened() -> bool:
            return what in self.text if isinstance(what, str) else what()

        deadline = time.monotonic() + seconds
        while not happened():
            assert self.read() or happened(), f"the command ended without {what!r}:\n{self.text}"
            assert time.monotonic() < deadline, f"waited in vain for {what!r}:\n{self.text}"

    def read(self, seconds: float = 0.1) -> bool:
        """Takes in what was written meanwhile; False once the command has ended."""
        try:
            written = self._process.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.output += written
        self._stream.feed(written)
        return True

    def finish(self, seconds: float = 120.0) -> int:
        """Waits for the end of the command; its exit code, or 128 and the signal's number, as in a shell."""
        deadline = time.monotonic() + seconds
        while self.read():
            assert time.monotonic() < deadline, f"the command did not end:\n{self.text}"
        self._process.wait()
        if self._process.exitstatus is not None:
            return int(self._process.exitstatus)
        return 128 + int(self._process.signalstatus or 0)

    def press(self, keys: str) -> None:
        self._process.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        self._process.setwinsize(rows, columns)
        self._screen.resize(rows, columns)

    def take_lines(self) -> list[str]:
        """The lines that left the screen since the last call."""
        lines = self._above()
        self._screen.history.top.clear()
        return lines


def main() -> None:
    """Runs the command in the arguments; its lines reach standard output as plain text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    raise SystemExit(_follow(arguments.command, arguments.columns))


def _follow(command: Sequence[str], columns: int) -> int:
    environment = {**os.environ, "TERM": "xterm-256color"}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # with the last screen printed
    with Terminal(command, columns=columns, environment=environment) as terminal:
        try:
            while terminal.read(1.0):
                _print(terminal.take_lines())
            return terminal.finish()
        finally:
            _print([*terminal.take_lines(), *terminal.screen.split("\n")])


def _print(lines: Sequence[str]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
