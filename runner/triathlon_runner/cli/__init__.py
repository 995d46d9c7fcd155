"""The command line of the runner; the site adds its own commands to `app`."""

from triathlon_runner.cli._app import app, examples, run_app
from triathlon_runner.cli._names import Models, Suites, names

__all__ = ["Models", "Suites", "add_commands", "app", "examples", "names", "run_app"]


def add_commands() -> None:
    """Adds the runner's commands to `app`.

    They register themselves when they are imported, with all that they need: that takes as long as a small
    build, so that the site's own commands go without.
    """
    from triathlon_runner.cli import (  # noqa: F401, PLC0415
        _cache,
        _doctor,
        _evolve,
        _gate,
        _grade,
        _import,
        _list,
        _questions,
        _results,
        _run,
        _sets,
        _submit,
        _translation,
        _verify,
    )
