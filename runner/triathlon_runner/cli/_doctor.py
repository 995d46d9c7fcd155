"""`triathlon doctor`: what can run on this machine."""

import asyncio
from typing import Final

import typer

from triathlon_runner import catalogue, models_yaml, sandbox
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._list import data_here
from triathlon_runner.cli._options import data_store
from triathlon_runner.grading import TEST_LIMITS
from triathlon_runner.schedule import why_not
from triathlon_runner.serving import gpus
from triathlon_runner.terminal import Screen, console, counted

_NOWHERE: Final = (
    "this kernel, or the container that this runs in, offers neither user namespaces nor Landlock; without"
    " one of them a program could read and change what is yours, so that none is executed",
    "your own kernel: Linux 5.13 or later with `landlock` in /sys/kernel/security/lsm, or unprivileged user"
    " namespaces (Debian: sysctl kernel.unprivileged_userns_clone=1; Ubuntu: sysctl"
    " kernel.apparmor_restrict_unprivileged_userns=0)",
    "gVisor (runsc) has neither: start the container with the default runtime, `docker run --runtime=runc`",
    "Apple's `container` starts a kernel without Landlock: use Docker Desktop, Colima or Lima",
)
"""Advice where nothing can be executed."""


@cli.command("triathlon doctor")
def doctor(models_file: cli.ModelsFile = cli.MODELS_FILE, data: cli.Data = None) -> None:
    """What can run here: sandbox level, limits of a program, languages, GPUs, data, keys.

    Exit code 1: nothing can be executed.
    """
    screen, store = console(), data_store(data, fetch=False)
    healthy = asyncio.run(_machine(screen))
    missing = [entry.id for entry in catalogue.select() if not data_here(entry, store)[0]]
    where = "fetched when run, or read from --data FOLDER"
    _say(screen, "data", f"not here, {where}: {', '.join(missing)}" if missing else "all here")
    for row in models_yaml.load(models_file, missing_ok=models_file == cli.MODELS_FILE).models:
        _say(screen, "model", f"{row.id}: {why_not(row) or 'ready'}")
    raise typer.Exit(0 if healthy else 1)


async def _machine(screen: Screen) -> bool:
    """Prints what can be executed on this machine, and returns whether anything can."""
    health = await sandbox.doctor()
    level = health.level or "nothing can be executed here"
    _say(screen, "sandbox", f"{level}, {counted(health.jobs, 'program')} at once")
    for name, reason in health.refused.items():
        _say(screen, "", f"not {name}: {reason}")
    if health.level is None:
        for advice in _NOWHERE:
            _say(screen, "", advice)
    else:
        _say(screen, "verdicts", "every one is decided outside the process of the program that is graded")
        _say(screen, "isolation", sandbox.integrity(health.level))
        for number, (what, limit) in enumerate(sandbox.limits_of_a_child(TEST_LIMITS).items()):
            _say(screen, "" if number else "limits", f"{what}: {limit}")
    for language in health.languages:
        _say(screen, language.language, language.version or language.fault)
    names = [f"{gpu.name} ({gpu.free} MiB free)" for gpu in await gpus()]
    _say(screen, "GPUs", ", ".join(names) or "none")
    return health.level is not None


def _say(screen: Screen, heading: str, finding: str) -> None:
    screen.print_message(f"{heading:10} {finding}")
