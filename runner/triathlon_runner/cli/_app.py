"""The `triathlon` command and how errors are shown."""

import sys

import typer

from triathlon_runner.errors import UserError, leaves

app = typer.Typer(
    name="triathlon",
    help="A leaderboard for code language models in three disciplines: loop, runtime, evolved.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def run_app() -> None:
    """Runs the command line. A user's error is printed without a traceback and ends with exit code 2."""
    try:
        app()
    except (UserError, BaseExceptionGroup) as error:
        found = list(leaves(error))
        if not all(isinstance(one, UserError) for one in found):
            raise
        for message in dict.fromkeys(str(one) for one in found):
            print(f"triathlon: {message}", file=sys.stderr)  # noqa: T201  # before any console exists
        raise SystemExit(2) from None
