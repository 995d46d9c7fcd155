"""The `triathlon` command. It imports the rest itself, so that Ctrl-C ends it with a line from the start."""

import signal
import sys
from typing import Final

from triathlon_runner import __version__

_INTERRUPTED: Final = 130
"""128 and the number of SIGINT, as a shell has it; typer ends an interrupted command with it, too."""


def main() -> None:
    """Runs the command line. Where Ctrl-C interrupts it, a line says so and the exit code is 130."""
    if sys.argv[1:] == ["--version"]:  # needs nothing of what takes a second to import
        sys.stdout.write(f"triathlon {__version__}\n")
        return
    try:
        from triathlon_runner.cli import run_app  # noqa: PLC0415  see above
        from triathlon_site import reproduce_command  # noqa: F401, PLC0415  adds its command
        from triathlon_site.cli import add_wanted_commands  # noqa: PLC0415

        add_wanted_commands()
        run_app()
    except (KeyboardInterrupt, SystemExit) as end:
        if isinstance(end, SystemExit) and end.code != _INTERRUPTED:
            raise
        behind_echo = "\n" if sys.stderr.isatty() else ""  # a terminal has printed ^C
        sys.stderr.write(f"{behind_echo}interrupted; no stored result is lost\n")
        sys.exit(_INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stays while the interpreter ends


if __name__ == "__main__":
    main()
