"""`triathlon doctor`: what can run here, and whether the grader holds against attack."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Final

import typer

from triathlon_runner import catalogue, models_yaml, sandbox
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._options import Common, Data, ModelsFile, data_store
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.sandbox import attacks
from triathlon_runner.schedule import why_not
from triathlon_runner.serving import gpus
from triathlon_runner.store import replace_file
from triathlon_runner.terminal import Screen, console, counted, table

NOT_RUN: Final = "not run"
"""What manifests say where the hostile programs were never graded on this machine."""

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


@app.command(
    epilog=examples(
        "triathlon doctor",
        "triathlon doctor --attack",
    )
)
def doctor(
    attack: Annotated[
        bool, typer.Option("--attack", help="Grade hostile programs and see what they reach.")
    ] = False,
    level: Annotated[str, typer.Option(help="Sandbox level for --attack: auto, namespaces, lite.")] = "auto",
    models_file: ModelsFile = Common.models_file,
    data: Data = None,
) -> None:
    """What can run here: sandbox level, languages, GPUs, data, keys.

    Exit code 1: nothing can be executed, or a hostile program got through.
    """
    screen = console()
    if attack:
        raise typer.Exit(asyncio.run(_attack(level, screen)))
    healthy = asyncio.run(_machine(screen))
    _data(data_store(data, fetch=False), screen)
    _models(models_file, screen)
    raise typer.Exit(0 if healthy else 1)


def grader_integrity(level: str) -> str:
    """Returns the summary of the last `doctor --attack` at this level, for manifests; else `not run`."""
    path = _integrity_file(level)
    return str(json.loads(path.read_text(encoding="utf-8"))["summary"]) if path.exists() else NOT_RUN


def _integrity_file(level: str) -> Path:
    return cache_folder() / f"attack-{level}.json"


async def _attack(level: str, screen: Screen) -> int:
    def show(result: attacks.AttackResult) -> None:
        finding = "held" if result.held else " ".join(
            f"{name}: {text}"
            for name in ("scored", "stole", "harmed", "survived")
            if (text := getattr(result, name))
        )  # fmt: skip
        screen.print_message(f"{result.name:40} {result.kind:10} {result.outcome:12} {finding}")

    report = await attacks.attack(level, on_result=show)
    screen.print_message(report.summary())
    content = {"summary": report.summary(), "held": report.held}
    replace_file(_integrity_file(report.level), json.dumps(content, indent=1) + "\n")
    return 0 if report.held else 1


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
        summary = grader_integrity(health.level)
        advice = "; `triathlon doctor --attack` tries them" if summary == NOT_RUN else ""
        _say(screen, "attacks", summary + advice)
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
