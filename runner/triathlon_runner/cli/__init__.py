"""The command line of the runner; the site adds its own commands to `app`."""

from triathlon_runner.cli import (  # noqa: F401  # importing them registers their commands
    _cache,
    _contamination,
    _doctor,
    _evolve,
    _grade,
    _import,
    _list,
    _questions,
    _results,
    _run,
    _sets,
    _translation,
    _verify,
)
from triathlon_runner.cli._app import Common, app, run_app

__all__ = ["Common", "app", "run_app"]
