"""`triathlon models`, `suites`, `doctor`, `probe`: what is registered, what can run, how servers behave."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Annotated, Any, Final

import typer

from triathlon_runner import catalogue, models_yaml, sandbox
from triathlon_runner.cache import cache_folder
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import catalogue_beside, check_prices, data_store, models_to_run
from triathlon_runner.datasets import DataStore, DataUnavailableError
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.grading import TEST_LIMITS
from triathlon_runner.llm import Limits, ReplyCache, probe, probed
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.schedule import Account, Control, ModelOpener, why_not
from triathlon_runner.serving import gpus
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.terminal import Screen, console, counted, money, print_error, shortened, table

_RAW_CHARACTERS: Final = 2000
_PROBE_LIMITS: Final = Limits(outage_seconds=60.0, first_concurrency=1)
_GRADED_NOTE: Final = """
here: its data is in the package, or on this machine; or is fetched when run (or --data FOLDER).
graded: outside: expected values, comparison and verdict never are in the process of a model's program; \
in part: coverage, state and path are read and compared outside; output is an assertion of the data set, \
filled in with an expression of plain values, and runs in one process with the data set's own program.
`grade --problems` refuses problems whose tests cannot run in another process than the program."""
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


@cli.command("triathlon models", "triathlon models gpt-4-turbo", "triathlon models --json")
def models(
    model: Annotated[
        str | None,
        typer.Argument(help="Shows all that is known of this one.", autocompletion=cli.complete_models),
    ] = None,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    as_json: cli.AsJson = False,
) -> None:
    """The models of models.yaml and whether they can run here."""
    listed = models_yaml.load(models_file)
    chosen = listed.select(None if model is None else [model])
    rows = [_model(row) for row in chosen]
    if as_json:
        console().print_json(data=rows)
    elif model is not None:
        (row,) = chosen
        facts = table("field", "value", whole=["field"], titles=False)
        for name, value in (rows[0] | _details(row)).items():
            if value:
                facts.add_row(name, value)
        console().print(facts)
    else:
        _show([{**row, "here": _in_short(row["here"])} for row in rows], ["id", "kind", "parameters", "here"])


def _in_short(here: str) -> str:
    """Returns whether a model can run here, shortened for a table; `models ID` has the sentence."""
    return "no GPU" if here.startswith("no GPU") else here.replace("set the environment variable ", "")


def _model(row: ModelRow) -> dict[str, str]:
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
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    as_json: cli.AsJson = False,
) -> None:
    """The suites, where they are graded and whether their data is here; --variants lists those too.

    Those of a suites.yaml beside the list of models are among them.
    """
    store = data_store(data, fetch=False)
    entries = catalogue_beside(models_file).entries()
    chosen = [entry for entry in entries if variants or entry.variant_of is None]
    data_of = {entry.id: _data(entry, store) for entry in entries if entry.variant_of is None}
    rows = []
    for entry in chosen:
        name, here = data_of[entry.variant_of or entry.id]
        facts = {"id": entry.id, "title": entry.title, "graded": entry.graded}
        rows.append({**facts, "data": name, "here": here})
    if as_json:
        console().print_json(data=rows)
        return
    shown = [{**row, "here": row["here"].removeprefix("in the ")} for row in rows]
    _show(shown, ["id", "graded", "here", "title"])
    console().print(_GRADED_NOTE, soft_wrap=not console().is_terminal)


def _data(entry: SuiteEntry, store: DataStore) -> tuple[str, str]:
    """Returns name and version of a suite's data, empty where it cannot be read now, and where it is."""
    try:
        data = entry.build(store).data
    except DataUnavailableError:
        return "", "when run"
    return f"{data.name} {data.version}", "in the package" if entry.core else "here"


def _show(rows: list[dict[str, str]], columns: Sequence[str]) -> None:
    """Prints some columns of the rows; --json has them all."""
    shown = table(*columns, whole=["id"])
    for row in rows:
        shown.add_row(*(row[name] for name in columns))
    console().print(shown)


def _details(row: ModelRow) -> dict[str, str]:
    """Returns the fields of a row that the table leaves out, in the row's order."""
    hidden = {"api", "serve", *_model(row)}
    fields = row.model_dump(mode="json", exclude_none=True, exclude_unset=True)
    details = {name: _in_words(value) for name, value in fields.items() if name not in hidden}
    if row.api is not None:
        details |= {"asked for as": row.api.model, "key from": row.api.key_env or "no key"}
    return {name.replace("_", " "): value for name, value in details.items()}


def _in_words(value: object) -> str:
    """Returns a field's value in words: `yes` for true, `input: 1.0, output: 4.0` for a mapping."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {part}" for name, part in value.items())
    return str(value)


@cli.command("triathlon doctor")
def doctor(models_file: cli.ModelsFile = cli.MODELS_FILE, data: cli.Data = None) -> None:
    """What can run here: sandbox level, limits of a program, languages, GPUs, data, keys.

    Exit code 1: nothing can be executed.
    """
    screen, store = console(), data_store(data, fetch=False)
    healthy = asyncio.run(_machine(screen))
    missing = [entry.id for entry in catalogue.select() if not _data(entry, store)[0]]
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


@cli.command(
    "triathlon probe --models my-model",
    "triathlon probe --model qwen2.5-coder --base-url http://127.0.0.1:11434/v1 --json",
    name="probe",
)
def probe_servers(
    models: cli.Models = None,
    model: cli.ModelName = None,
    base_url: cli.BaseUrl = None,
    key_env: cli.KeyEnv = None,
    price: cli.PriceOfModel = None,
    budget: cli.Budget = None,
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Ask anew what an earlier call asked of the same server.")
    ] = False,
    models_file: cli.ModelsFile = cli.MODELS_FILE,
    as_json: cli.AsJson = False,
) -> None:
    """Asks at most ten small questions that show how a server behaves, and which settings its row needs.

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
    control, screen = Control(budget), console()

    async def probe_all() -> list[dict[str, Any]]:
        async with AsyncExitStack() as stack:
            replies = stack.enter_context(ReplyCache(cache_folder() / "replies.sqlite"))
            opener = ModelOpener(
                listed, replies, cache_folder(), print_error, control=control, limits=_PROBE_LIMITS
            )
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
        async with opener.connect(row) as (connection, _):
            account = Account(row.id, connection.stats, row.price)
            control.accounts.append(account)
            report = await probe(connection, may_ask=control.may_send)
    except (InfrastructureError, UserError, BaseExceptionGroup) as error:
        causes = list(leaves(error))
        if not all(isinstance(cause, InfrastructureError | UserError) for cause in causes):
            raise
        return {"model": row.id, "exit_code": 2, "error": "; ".join(dict.fromkeys(map(str, causes)))}
    return {
        "model": row.id,
        "exit_code": 1 if report.has_findings else 0,
        "reply": report.raw,
        "checks": [
            {
                "check": name,
                "finding": bool(found.setting),
                "seen": found.seen,
                "setting": found.setting or None,
            }
            for name, found in report.found.items()
        ],
        "answered": connection.stats.answered,
        "from_earlier_calls": connection.stats.from_cache,
        "usd": round(account.usd, 6) if row.price else None,
    }


def _show_probe(result: dict[str, Any], screen: Screen) -> None:
    """Prints one model: a raw reply, and a line a check."""
    if "error" in result:
        print_error(f"{result['model']}: {result['error']}")
        return
    screen.print_message(
        f"{result['model']}: a reply as it came: {shortened(result['reply'], _RAW_CHARACTERS)}"
    )
    lines = table("check", "", "seen", "setting that fixes it", whole=["check", ""])
    for check in result["checks"]:
        lines.add_row(
            check["check"], "finding" if check["finding"] else "well", check["seen"], check["setting"] or ""
        )
    screen.print(lines)
    findings = sum(check["finding"] for check in result["checks"])
    kept = result["from_earlier_calls"]
    note = f"; {counted(kept, 'reply')} of an earlier call, which --ask-again replaces" if kept else ""
    usd = f", {money(result['usd'])} USD" if result["usd"] else ""
    screen.print_message(
        f"{counted(findings, 'finding')}; {counted(result['answered'], 'question')} answered now{usd}{note}"
    )
