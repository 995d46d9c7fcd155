"""The `triathlon` command. It imports the rest itself, so that Ctrl-C ends it with a line from the start."""

import os
import shutil
import signal
import sys
import textwrap
from types import FrameType
from typing import Final, NoReturn

from triathlon_runner import __version__

_INTERRUPTED: Final = 130
"""128 and the number of SIGINT, as a shell has it; typer's code, too."""
_GOES_ON: Final = "what was finished is kept, and the same command goes on from there"
_ENDS: Final = {
    "run": (1, _GOES_ON),
    "reproduce": (1, _GOES_ON),
    "gate": (3, f"undecided; {_GOES_ON}"),
    "import": (_INTERRUPTED, "verdicts are kept in --verdicts, and the same command goes on from there"),
    "evolve": (_INTERRUPTED, _GOES_ON),
    "grade": (_INTERRUPTED, "verdicts are kept in the cache, and the same command goes on from there"),
    "build": (_INTERRUPTED, "the site stays as it was"),
    "export": (_INTERRUPTED, "delete what is in --out before the next try"),
}
"""By command, how it ends where Ctrl-C interrupts it: the exit code, and what is kept."""
_KEPT_IN: Final = {
    "import": (
        "--verdicts",
        "files that were read to their end are imported; nothing of the rest is kept without --verdicts",
    ),
}
"""By command, the option that names where its work is kept, and what is kept without it."""


_LONG: Final = frozenset(
    {"run", "reproduce", "verify", "grade", "import", "doctor", "evolve", "gate", "build"}
)
_HELP: Final = frozenset({"--help", "-h"})


def main() -> None:
    """Runs the command line. An interrupted command says so in a line; its exit code is 130 or its own."""
    if sys.argv[1:] == ["--version"]:  # needs nothing of what takes a second to import
        sys.stdout.write(f"triathlon {__version__}\n")
        return
    interrupt = signal.getsignal(signal.SIGINT)  # a shell's job in the background ignores it
    try:
        if interrupt is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end_at_once)
        _say_starting(sys.argv[1:])
        from triathlon_runner.cli import run_app  # noqa: PLC0415  see above
        from triathlon_site import reproduce_command  # noqa: F401, PLC0415  adds its command
        from triathlon_site.cli import add_wanted_commands  # noqa: PLC0415

        add_wanted_commands()
        signal.signal(signal.SIGINT, interrupt)
        run_app()
    except BaseException as error:
        if not _is_interrupt(error):
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code, line = _interrupted(sys.argv[1:])
        sys.stderr.write(line)
        sys.exit(code)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stays while the interpreter ends


def _end_at_once(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Ends the process from within an import, which prints tracebacks of its own for an exception."""
    code, line = _interrupted(sys.argv[1:])
    os.write(2, line.encode())
    os._exit(code)


def _is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C ended the command: a class that is being made turns it into a RuntimeError."""
    if isinstance(error, SystemExit):
        return error.code == _INTERRUPTED
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


def _say_starting(arguments: list[str]) -> None:
    """A sign of life: what these commands need takes a second to import, and more on a busy machine."""
    if not _LONG.isdisjoint(arguments[:1]) and _HELP.isdisjoint(arguments):
        sys.stderr.write(f"triathlon {arguments[0]}: starting\n")
        sys.stderr.flush()


def _interrupted(arguments: list[str]) -> tuple[int, str]:
    """Returns the exit code and the line of an interrupted command."""
    command = next(iter(arguments), "")
    code, kept = _ENDS.get(command, (_INTERRUPTED, "no stored result is lost"))
    keeps, without = _KEPT_IN.get(command, ("", ""))
    if keeps and not any(word.partition("=")[0] == keeps for word in arguments):
        kept = without
    line = f"{f'triathlon {command}'.strip()}: interrupted; {kept}"
    if sys.stderr.isatty():  # which has printed ^C in front of it
        line = textwrap.fill(line, shutil.get_terminal_size().columns - len("^C"))
    return code, f"{line}\n"


if __name__ == "__main__":
    main()
