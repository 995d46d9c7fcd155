"""The `triathlon` command. It imports the rest itself, so that Ctrl-C ends it quietly from the start."""

import signal
import sys


def main() -> None:
    """Runs the command line; exit code 1 where it is interrupted before it has begun."""
    try:
        from triathlon_site.cli import main as command_line  # noqa: PLC0415  see above

        command_line()
    except KeyboardInterrupt:
        sys.stderr.write("triathlon: stopped before anything had begun\n")
        sys.exit(1)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code stays while the interpreter ends


if __name__ == "__main__":
    main()
