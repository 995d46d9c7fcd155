"""`triathlon doctor`: what can run here, and whether the grader holds against attack."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from triathlon_runner import catalogue, registry, sandbox
from triathlon_runner.cli._app import app, examples
from triathlon_runner.cli._options import Common, Data, ModelsFile, cache_folder, console, data_store
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.sandbox import attacks
from triathlon_runner.schedule import why_not
from triathlon_runner.serving import gpus
from triathlon_runner.store import replace_file


@app.command(
    epilog=examples(
        "triathlon doctor",
        "triathlon doctor --attack",
    )
)
def doctor(
    attack: Annotated[
        bool, typer.Option("--attack", help="Judge hostile programs and see what they reach.")
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
    """What the last `doctor --attack` at this level found, for manifests; `not run` where there was none."""
    path = _integrity_file(level)
    return str(json.loads(path.read_text(encoding="utf-8"))["summary"]) if path.exists() else "not run"


def _integrity_file(level: str) -> Path:
    return cache_folder() / f"attack-{level}.json"


async def _attack(level: str, screen: Console) -> int:
    def show(result: attacks.AttackResult) -> None:
        what = "held" if result.held else " ".join(
            f"{name}: {text}"
            for name in ("scored", "stole", "harmed", "survived")
            if (text := getattr(result, name))
        )  # fmt: skip
        _say(screen, f"{result.name:40} {result.kind:10} {result.outcome:12} {what}")

    report = await attacks.attack(level, on_result=show)
    _say(screen, report.summary())
    content = {"summary": report.summary(), "held": report.held}
    replace_file(_integrity_file(report.level), json.dumps(content, indent=1) + "\n")
    return 0 if report.held else 1


async def _machine(screen: Console) -> bool:
    health = await sandbox.doctor()
    _say(
        screen, f"sandbox    {health.level or 'nothing can be executed here'}, {health.jobs} programs at once"
    )
    for name, reason in health.refused.items():
        _say(screen, f"           not {name}: {reason}")
    if health.level is not None:
        _say(screen, "verdicts   every one is decided outside the process of the program that is judged")
        _say(screen, f"attacks    {grader_integrity(health.level)}")
    for language in health.languages:
        _say(screen, f"{language.language:10} {language.version or language.fault}")
    found = await gpus()
    _say(screen, "GPUs       " + (", ".join(f"{gpu.name} ({gpu.free} MiB free)" for gpu in found) or "none"))
    return health.level is not None


def _data(store: DataStore, screen: Console) -> None:
    missing = []
    for entry in catalogue.select():
        try:
            entry.build(store)
        except DataUnavailableError:
            missing.append(entry.id)
    _say(screen, "data       " + (f"not here: {', '.join(missing)}" if missing else "all here"))


def _models(path: Path, screen: Console) -> None:
    for row in registry.load(path, missing_ok=path == Common.models_file).models:
        _say(screen, f"model      {row.id}: {why_not(row) or 'ready'}")


def _say(screen: Console, line: str) -> None:
    screen.print(line, markup=False, highlight=False, soft_wrap=True)
