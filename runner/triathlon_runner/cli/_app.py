"""The `triathlon` command and how errors are shown."""

import errno
import io
import os
import sys
from typing import Annotated

import typer

from triathlon_runner import __version__
from triathlon_runner.cli._command_style import App
from triathlon_runner.errors import UserError, leaves
from triathlon_runner.terminal import print_error, print_traceback


def examples(*lines: str) -> str:
    """Returns the end of a command's help: an example a line, as it is typed."""
    return "\n".join(("Examples:", *lines))


app = App(
    name="triathlon",
    help="A leaderboard for code language models in three disciplines: loop, runtime, evolved.",
    epilog=examples(
        "triathlon run --limit 2",
        "triathlon build && triathlon serve",
        "triathlon models",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def group_of_commands(name: str, about: str, example: str) -> App:
    """Returns a group of commands of `app`, such as `triathlon results`."""
    group = App(help=about, epilog=examples(example), no_args_is_help=True)
    app.add_typer(group, name=name)
    return group


_OUTPUT_LOST = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
"""Errors without a file's name: of writing to the standard output."""


def _show_version(is_set: bool) -> None:
    if is_set:
        typer.echo(f"triathlon {__version__}")
        raise typer.Exit


@app.callback()
def options_of_all_commands(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """What stands before the command."""


def run_app() -> None:
    """Runs the command line. A user's error is printed without a traceback and ends with exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for a terminal whose encoding has no "…"
    try:
        app()
    except (UserError, BaseExceptionGroup) as error:
        errors = list(leaves(error))
        if not all(isinstance(leaf, UserError) for leaf in errors):
            sys.excepthook = print_traceback
            raise
        for message in dict.fromkeys(map(str, errors)):
            print_error(message)
        raise SystemExit(2) from None
    except OSError as error:
        if error.filename is None and error.errno not in _OUTPUT_LOST:
            sys.excepthook = print_traceback
            raise
        what = f"cannot use {str(error.filename)!r}" if error.filename else "cannot write the output"
        if not error.filename:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # else the interpreter tries once more to write it
        print_error(
            f"{what}: {error.strerror}; look at its rights, at what it is, and at the room on the disk"
        )
        raise SystemExit(2) from None
    except Exception:
        sys.excepthook = print_traceback  # typer's hook prints quoted control characters unescaped
        raise
