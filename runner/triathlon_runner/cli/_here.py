"""What is registered and what of it can run here: `triathlon models`, `suites`, `doctor`, `probe`."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import yaml
from typer import Argument, Option

from triathlon_runner import catalogue, models_yaml, sandbox
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import check_prices, data_store, models_to_run
from triathlon_runner.datasets import DataFile, DataStore, DataUnavailableError
from triathlon_runner.errors import InfrastructureError, UserError, messages
from triathlon_runner.grading import TEST_LIMITS
from triathlon_runner.llm import Limits, ModelUnavailableError, ReplyCache, probe, probed
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.schedule import Account, Control, ModelOpener, why_not
from triathlon_runner.serving import gpus
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import Screen, console, counted, money, print_error, shortened, table, write

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
_REPLY_CHARACTERS: Final = 2000
_PROBE_LIMITS: Final = Limits(outage_seconds=60.0, longest_retry_after=60.0, first_concurrency=1)


@cli.command("triathlon models", "triathlon models claude-haiku-4.5", "triathlon models --json")
def models(
    model: Annotated[str | None, Argument(help="Shows all of this one.")] = None,
    models_file: cli.ModelsFile = None,
    as_json: cli.AsJson = False,
) -> None:
    """The models of models.yaml and whether they can run here."""
    listed, screen = models_yaml.load(models_file), console()
    rows = [_facts(row) for row in listed.select(None if model is None else [model])]
    if as_json:
        screen.print_json(data=rows)
    elif model is not None:
        row = {**listed.row(model).model_dump(mode="json", exclude_unset=True), "here": rows[0]["here"]}
        write(yaml.safe_dump(row, sort_keys=False, allow_unicode=True).rstrip())
    else:
        shown = table("id", "kind", "parameters", "here", whole=["id"])
        for row in rows:
            here = "no GPU" if row["here"].startswith("no GPU") else row["here"]
            here = here.replace("set the environment variable ", "").removesuffix(", as its row says")
            shown.add_row(row["id"], row["kind"], row["parameters"], here)
        screen.print(shown)


def _facts(row: ModelRow) -> dict[str, str]:
    return {
        "id": row.id,
        "name": row.name,
        "kind": row.kind,
        "parameters": row.parameters or "",
        "license": row.license or "",
        "reached by": "vLLM, started here" if row.serve else row.api.base_url if row.api else "",
        "here": why_not(row) or "ready",
    }


@cli.command("triathlon suites", "triathlon suites --variants --json")
def suites(
    data: cli.Data = None,
    variants: bool = False,
    models_file: cli.ModelsFile = None,
    as_json: cli.AsJson = False,
) -> None:
    """The suites, where they are graded and whether their data is here; --variants lists those too.

    Those of a suites.yaml beside the list of models are among them.
    Here: in the package or on this machine; else it is fetched when run, or read from --data FOLDER. The
    content of a file is checked when it is run.
    Graded outside: expected values and verdict never are in the process of a model's program.
    Graded in part: an output's assertion, with plain values filled in, runs beside the data set's program.
    """
    models_yaml.found_file(
        models_file, needed=False
    )  # a named one that is missing has no suites.yaml beside it
    screen = console()
    entries = catalogue.read_catalogue(models_file).entries()
    data_of = {entry.id: _data_of(entry, data) for entry in entries if entry.variant_of is None}
    rows = []
    for entry in entries:
        if variants or entry.variant_of is None:
            name, here = data_of[entry.variant_of or entry.id]
            facts = {"id": entry.id, "title": entry.title, "graded": entry.graded}
            rows.append({**facts, "data": name, "here": here})
    if as_json:
        screen.print_json(data=rows)
        return
    shown = table("id", "graded", "here", "title", whole=["id"])
    for row in rows:
        shown.add_row(row["id"], row["graded"], row["here"].removeprefix("in the "), row["title"])
    screen.print(shown)


class _EmptyFiles(DataStore):
    """Has the files that are here without what they hold: no suite needs that to say what its data is."""

    def read(self, file: DataFile) -> bytes:
        """Returns an empty file of the same form, and prompts as they are."""
        if not self.has(file):
            raise DataUnavailableError(file.name)
        if file.name.startswith("prompts/"):
            return super().read(file)
        return b"[]" if file.name.endswith(".json") else b""


def _data_of(entry: SuiteEntry, data: Path | None) -> tuple[str, str]:
    """Returns name and version of a suite's data, empty where it is not here, and where it is."""
    store = data_store(data, fetch=False)
    try:
        info = entry.build(_EmptyFiles(store.cache, store.folder, fetch=False)).data
    except DataUnavailableError:
        return "", "when run"
    return f"{info.name} {info.version}", "in the package" if entry.core else "here"


@cli.command("triathlon doctor")
def doctor(models_file: cli.ModelsFile = None, data: cli.Data = None) -> None:
    """What can run here: sandbox level, limits of a program, languages, GPUs, data, keys.

    Exit code 1: nothing can be executed.
    """
    screen = console()

    def say(heading: str, finding: str) -> None:
        screen.print_message(f"{heading:10} {finding}")

    health = asyncio.run(sandbox.doctor())
    level = health.level or "nothing can be executed here"
    say("sandbox", f"{level}, {counted(health.jobs, 'program')} at once")
    for name, reason in health.refused.items():
        say("", f"not {name}: {reason}")
    if health.level is None:
        for advice in _NOWHERE:
            say("", advice)
    else:
        say("verdicts", "every one is decided outside the process of the program that is graded")
        say("isolation", sandbox.integrity(health.level))
        for number, (what, limit) in enumerate(sandbox.limits_of_a_child(TEST_LIMITS).items()):
            say("" if number else "limits", f"{what}: {limit}")
    for language in health.languages:
        say(language.language, language.version or language.fault)
    say("GPUs", ", ".join(f"{gpu.name} ({gpu.free} MiB free)" for gpu in asyncio.run(gpus())) or "none")
    known = [entry for entry in catalogue.entries() if entry.variant_of is None]
    missing = [entry.id for entry in known if not _data_of(entry, data)[0]]
    where = "fetched when run, or read from --data FOLDER"
    say("data", f"not here, {where}: {', '.join(missing)}" if missing else "all here")
    for row in models_yaml.load(models_file, needed=False).models:
        say("model", f"{row.id}: {why_not(row) or 'ready'}")
    raise typer.Exit(0 if health.level is not None else 1)


@cli.command(
    "triathlon probe --models my-model",
    "triathlon probe --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1 --json",
    name="probe",
)
def probe_servers(
    models: Annotated[str | None, Option(help="Ids, separated by commas.")] = None,
    model: cli.ModelName = None,
    base_url: cli.BaseUrl = None,
    key_env: cli.KeyEnv = None,
    price: cli.PriceOfModel = None,
    budget: cli.Budget = None,
    ask_again: Annotated[bool, Option("--ask-again", help="Ask anew what was asked before.")] = False,
    models_file: cli.ModelsFile = None,
    as_json: cli.AsJson = False,
) -> None:
    """Asks at most seven small questions that show how a server behaves, and which settings its row needs.

    Exit code 0: all well; 1: findings, each with the setting that fixes it; 2: a model did not answer.
    """
    if models is None and model is None:
        raise UserError("expected --models, or --model and --base-url, which say what is probed, got neither")
    listed, ids = models_to_run(models_file, models, model, base_url, key_env, price)
    rows = listed.select(ids)
    if reasons := [f"{row.id}: {reason}" for row in rows if (reason := why_not(row)) is not None]:
        raise UserError(f"expected models that can run here, got {'; '.join(reasons)}")
    if budget is not None:
        check_prices(rows)
    control, screen, cache = Control(budget), console(), cache_folder()

    async def probe_all() -> list[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            replies = stack.enter_context(ReplyCache(cache / "replies.sqlite"))
            opener = ModelOpener(listed, replies, cache, print_error, control=control)
            results = []
            for row in rows:
                if ask_again:
                    replies.prune(model=probed(row.id))
                results.append(await _probe(row, opener, control))
                if not as_json:
                    _show_probe(results[-1], screen)
            return results

    results = asyncio.run(probe_all())
    if as_json:
        screen.print_json(data=results)
    raise typer.Exit(max(result["exit_code"] for result in results))


async def _probe(row: ModelRow, opener: ModelOpener, control: Control) -> dict[str, Any]:
    """Returns what `--json` prints about one model."""
    try:
        if not control.may_send():
            raise ModelUnavailableError(control.stopped)
        async with opener.connect(row, _PROBE_LIMITS) as (connection, _):
            account, stop = Account(row.id, connection.stats, row.price), connection.queue.stop
            control.accounts.append(account)
            # else a question that is tried again would wait for ever
            control.on_stop.append(lambda: stop(ModelUnavailableError(control.stopped)))
            all_found, raw = await probe(connection, may_ask=control.may_send)
    except (InfrastructureError, UserError, BaseExceptionGroup) as error:
        if not (said := messages(error, InfrastructureError, UserError)):
            raise
        return {"model": row.id, "exit_code": 2, "error": "; ".join(said)}
    checks = [
        {"check": name, "finding": bool(found.setting), "seen": found.seen, "setting": found.setting or None}
        for name, found in all_found.items()
    ]
    return {
        "model": row.id,
        "exit_code": int(any(check["finding"] for check in checks)),
        "reply": raw,
        "checks": checks,
        "answered": connection.stats.answered,
        "from_earlier_calls": connection.stats.from_cache,
        "usd": round(account.usd, 6) if row.price else None,
    }


def _show_probe(result: dict[str, Any], screen: Screen) -> None:
    if "error" in result:
        print_error(f"{result['model']}: {result['error']}")
        return
    reply = shortened(result["reply"], _REPLY_CHARACTERS)
    screen.print_message(f"{result['model']}: a reply as it came: {reply}")
    shown = table("check", "", "seen", "setting that fixes it", whole=["check", ""])
    for check in result["checks"]:
        kind = "finding" if check["finding"] else "well"
        shown.add_row(check["check"], kind, check["seen"], check["setting"] or "")
    screen.print(shown)
    findings = counted(sum(check["finding"] for check in result["checks"]), "finding")
    usd = f", {money(result['usd'])} USD" if result["usd"] else ""
    kept = result["from_earlier_calls"]
    note = f"; {counted(kept, 'reply')} of an earlier call, which --ask-again replaces" if kept else ""
    screen.print_message(f"{findings}; {counted(result['answered'], 'question')} answered now{usd}{note}")
