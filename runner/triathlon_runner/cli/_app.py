"""The `triathlon` command and how errors are shown."""

import io
import sys

import typer

from triathlon_runner.errors import UserError, leaves
from triathlon_runner.screen import print_error, print_traceback

app = typer.Typer(
    name="triathlon",
    help="A leaderboard for code language models in three disciplines: loop, runtime, evolved.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def run_app() -> None:
    """Runs the command line. A user's error is printed without a traceback and ends with exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that has no "…" still gets the rest
    try:
        app()
    except (UserError, BaseExceptionGroup) as error:
        found = list(leaves(error))
        if not all(isinstance(one, UserError) for one in found):
            sys.excepthook = print_traceback
            raise
        for message in dict.fromkeys(str(one) for one in found):
            print_error(message)
        raise SystemExit(2) from None
    except Exception:
        sys.excepthook = print_traceback  # in the place of typer's, which writes what it quotes as it is
        raise
