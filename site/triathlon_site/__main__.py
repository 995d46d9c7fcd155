"""The `triathlon` command. It imports the rest itself, so that Ctrl-C ends it with a line from the start."""

import shutil
import signal
import sys
import textwrap
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
    "grade": (_INTERRUPTED, "what was graded is kept in --out, and the same command goes on from there"),
    "build": (_INTERRUPTED, "the site stays as it was"),
    "export": (_INTERRUPTED, "delete what is in --out before the next try"),
}
"""By command, how it ends where Ctrl-C interrupts it: the exit code, and what is kept."""
_KEPT_IN: Final = {
    "grade": ("--out", "nothing is kept without --out"),
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
    try:
        _say_starting(sys.argv[1:])
        from triathlon_site.cli import main as command_line  # noqa: PLC0415  see above

        command_line()
    except KeyboardInterrupt:
        _end_interrupted(sys.argv[1:])
    except SystemExit as end:
        if end.code != _INTERRUPTED:
            raise
        _end_interrupted(sys.argv[1:])
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stays while the interpreter ends


def _say_starting(arguments: list[str]) -> None:
    """A sign of life: what these commands need takes a second to import, and more on a busy machine."""
    if not _LONG.isdisjoint(arguments[:1]) and _HELP.isdisjoint(arguments):
        sys.stderr.write(f"triathlon {arguments[0]}: starting\n")
        sys.stderr.flush()


def _end_interrupted(arguments: list[str]) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    command = next(iter(arguments), "")
    code, kept = _ENDS.get(command, (_INTERRUPTED, "no stored result is lost"))
    keeps, without = _KEPT_IN.get(command, ("", ""))
    if keeps and not any(word.partition("=")[0] == keeps for word in arguments):
        kept = without
    line = f"{f'triathlon {command}'.strip()}: interrupted; {kept}"
    if sys.stderr.isatty():  # which has printed ^C in front of it
        line = textwrap.fill(line, shutil.get_terminal_size().columns - len("^C"))
    sys.stderr.write(f"{line}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
