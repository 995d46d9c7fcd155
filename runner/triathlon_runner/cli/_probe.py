"""`triathlon probe`: how servers behave, and which settings their rows need."""

import asyncio
from contextlib import AsyncExitStack
from typing import Annotated, Any, Final

import typer

from triathlon_runner.cache import cache_folder
from triathlon_runner.cli import _app as cli
from triathlon_runner.cli._options import check_prices, models_to_run
from triathlon_runner.errors import InfrastructureError, UserError, leaves
from triathlon_runner.llm import Limits, ReplyCache, probe, probed
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.schedule import Account, Control, ModelOpener, why_not
from triathlon_runner.terminal import Screen, console, counted, money, print_error, shortened, table

_RAW_CHARACTERS: Final = 2000
_PROBE_LIMITS: Final = Limits(outage_seconds=60.0, first_concurrency=1)


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
