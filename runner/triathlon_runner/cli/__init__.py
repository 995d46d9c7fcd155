"""The command line of the runner; the site adds its own commands to `app`."""

import signal
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from triathlon_runner.cli._app import (
    MOST_SAMPLES,
    Budget,
    Chosen,
    Data,
    Models,
    ModelsFile,
    Results,
    Suites,
    app,
    examples,
    names,
    one_of,
    run_app,
)

if TYPE_CHECKING:
    from triathlon_runner.schedule import Missing


def add_commands() -> None:
    """Adds the runner's commands to `app`.

    They register themselves when they are imported, with all that they need: that takes as long as a small
    build, so that the site's own commands go without.
    """
    for module in ["evolve", "gate", "grade", "groups", "here", "import", "results", "run", "verify"]:
        import_module(f"triathlon_runner.cli._{module}")


def ask_models(**options: Any) -> int:
    """Does what `triathlon run` does with these options, such as `models="a,b"`; returns its exit code.

    Raises:
        UserError: as `triathlon run`.
    """
    from triathlon_runner.cli._run import run  # noqa: PLC0415  it imports all that asking needs

    interrupted = signal.getsignal(signal.SIGINT)
    try:
        run(**options)
    except typer.Exit as end:
        return end.exit_code
    finally:
        signal.signal(signal.SIGINT, interrupted)  # a run that has ended ignores Ctrl-C
    return 0


def missing_here(suites: Sequence[str], data: Path | None) -> dict[str, "Missing"]:
    """Returns what built-in suites lack to run whole on this machine, by id.

    Raises:
        UserError: an unknown suite, `data` is no folder.
        SandboxError: nothing can be executed here.
    """
    from triathlon_runner import catalogue  # noqa: PLC0415  as above
    from triathlon_runner.cli._options import data_store, with_grader  # noqa: PLC0415
    from triathlon_runner.schedule import what_is_missing  # noqa: PLC0415

    return with_grader(
        lambda grader: what_is_missing(catalogue.select(suites), data_store(data), grader.sandbox)
    )
