"""The command line of the runner; the site adds its own commands to `app`."""

from importlib import import_module

from triathlon_runner.cli._app import app, examples, run_app
from triathlon_runner.cli._names import Models, Suites, names, one_of

__all__ = ["Models", "Suites", "add_commands", "app", "examples", "names", "one_of", "run_app"]

_COMMANDS = "cache doctor evolve gate grade import list questions results run submit translation verify"


def add_commands() -> None:
    """Adds the runner's commands to `app`.

    They register themselves when they are imported, with all that they need: that takes as long as a small
    build, so that the site's own commands go without.
    """
    for command in _COMMANDS.split():
        import_module(f"triathlon_runner.cli._{command}")
