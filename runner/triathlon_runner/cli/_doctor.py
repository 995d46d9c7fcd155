"""`triathlon doctor`: what can run here, and what a program may use."""

import asyncio
from pathlib import Path
from typing import Final

import typer

from triathlon_runner import catalogue, models_yaml, sandbox
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._names import Data, ModelsFile
from triathlon_runner.cli._options import Common, data_store
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.grading import TEST_LIMITS
from triathlon_runner.schedule import why_not
from triathlon_runner.serving import gpus
from triathlon_runner.terminal import Screen, console, counted, table

NOWHERE: Final = (
    "this kernel, or the container that this runs in, offers neither user namespaces nor Landlock; without"
    " one of them a program could read and change what is yours, so that none is executed",
    "your own kernel: Linux 5.13 or later with `landlock` in /sys/kernel/security/lsm, or unprivileged user"
    " namespaces (Debian: sysctl kernel.unprivileged_userns_clone=1; Ubuntu: sysctl"
    " kernel.apparmor_restrict_unprivileged_userns=0)",
    "gVisor (runsc) has neither: start the container with the default runtime, `docker run --runtime=runc`",
    "Apple's `container` starts a kernel without Landlock: use Docker Desktop, Colima or Lima",
)
"""Advice where nothing can be executed."""


@app.command(epilog=examples("triathlon doctor"))
def doctor(models_file: ModelsFile = Common.models_file, data: Data = None) -> None:
    """What can run here: sandbox level, limits of a program, languages, GPUs, data, keys.

    Exit code 1: nothing can be executed.
    """
    screen = console()
    healthy = asyncio.run(_machine(screen))
    _data(data_store(data, fetch=False), screen)
    _models(models_file, screen)
    raise typer.Exit(0 if healthy else 1)


async def _machine(screen: Screen) -> bool:
    health = await sandbox.doctor()
    level = health.level or "nothing can be executed here"
    _say(screen, "sandbox", f"{level}, {counted(health.jobs, 'program')} at once")
    for name, reason in health.refused.items():
        _say(screen, "", f"not {name}: {reason}")
    if health.level is None:
        for advice in NOWHERE:
            _say(screen, "", advice)
    else:
        _say(screen, "verdicts", "every one is decided outside the process of the program that is graded")
        _say(screen, "isolation", sandbox.integrity(health.level))
        for number, row in enumerate(sandbox.limits_of_a_child(TEST_LIMITS)):
            heading = "" if number else "limits"
            _say(screen, heading, f"{row.what}: {row.most} ({row.enforced_by})")
    for language in health.languages:
        _say(screen, language.language, language.version or language.fault)
    names = [f"{gpu.name} ({gpu.free} MiB free)" for gpu in await gpus()]
    _say(screen, "GPUs", ", ".join(names) or "none")
    return health.level is not None


def _data(store: DataStore, screen: Screen) -> None:
    missing = []
    for entry in catalogue.select():
        try:
            entry.build(store)
        except DataUnavailableError:
            missing.append(entry.id)
    where = "fetched when run, or read from --data FOLDER"
    _say(screen, "data", f"not here, {where}: {', '.join(missing)}" if missing else "all here")


def _models(path: Path, screen: Screen) -> None:
    for row in models_yaml.load(path, missing_ok=path == Common.models_file).models:
        _say(screen, "model", f"{row.id}: {why_not(row) or 'ready'}")


def _say(screen: Screen, heading: str, finding: str) -> None:
    """Prints a finding behind its heading; on a terminal later lines of it are indented."""
    if not screen.is_terminal:
        screen.print(f"{heading:10} {finding}", soft_wrap=True)
        return
    line = table("heading", "finding", whole=["heading"], titles=False)
    line.columns[0].width = 10
    line.add_row(heading, finding)
    screen.print(line)
