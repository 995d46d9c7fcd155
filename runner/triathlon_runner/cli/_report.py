"""What a run says before it asks (what is left out, what it will take) and at its end."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from triathlon_runner.estimates import ModelEstimate
from triathlon_runner.records import Outcome
from triathlon_runner.runtime import without_libraries
from triathlon_runner.schedule import Account, ConsoleProgress, Control, RunPlan, Summary, kept_apart
from triathlon_runner.store import ResultsFolder
from triathlon_runner.suites import OFFICIAL_EXTRA
from triathlon_runner.terminal import Screen, counted, table

_REASONS: Final = 5
_NEARLY_ALL: Final = 0.9
_LONGER_CONTEXT: Final = (
    "start its server with a longer one (serve block: max_model_len, vLLM: --max-model-len, Ollama:"
    " OLLAMA_CONTEXT_LENGTH)"
)
_UNUSABLE: Final = {
    Outcome.NO_ANSWER: (
        "empty",
        "look at what its server answers; a reasoning model may need `reasoning_max_tokens` in the api block"
        " of its row, or more `max_tokens` in the row, a model that completes text `kind: base`",
    ),
    Outcome.TRUNCATED: (
        "cut at the token limit",
        "allow more with `max_tokens` in its row, or with `reasoning_max_tokens` in its api block",
    ),
    Outcome.REFUSED: ("refused", "the model or a filter of its provider refuses our questions"),
    Outcome.CONTEXT_OVERFLOW: ("refused as longer than its context", _LONGER_CONTEXT),
}
"""By outcome: how a reply is described, and the advice where nearly all replies of a model end like this."""
_CUT_BY_CONTEXT: Final = ("cut because question and reply filled the context", _LONGER_CONTEXT)


def notices(plan: RunPlan) -> Iterator[str]:
    """Yields what a user should know before anything is asked: what is left out, repeated or trusted."""
    for noun, reasons in (("model", plan.skipped_models), ("suite", plan.skipped_suites)):
        for reason in dict.fromkeys(reasons.values()):  # one line a reason: it may be that of most models
            ids = [name for name, why in reasons.items() if why == reason]
            subject = noun if len(ids) == 1 else f"{counted(len(ids), noun)}:"
            yield f"skipped {subject} {', '.join(ids)}: {reason}"
    works = [work for works in plan.work.values() for work in works]
    questions = {work.suite_id: work.settings["questions"] for work in works if "questions" in work.settings}
    for suite, asked in questions.items():
        reasons = without_libraries(asked["left_out_programs"])
        if reasons:
            yield (
                f"{suite} asks {counted(asked['count'], 'question')}, not all that its data set has:"
                f" {'; '.join(f'{task} {why}' for task, why in reasons.items())}; {OFFICIAL_EXTRA} installs"
                " what DREval and ClassEval need"
            )
    if copies := ", ".join(dict.fromkeys(work.suite_id for work in works if work.asks_for_copies)):
        yield (
            f"{copies}: asked at temperature 0, so all samples of a task are one reply, which is asked for"
            " once; for samples that differ name --temperature, or suites that sample"
        )
    hosts: dict[str, set[str]] = {}
    for row in {work.row.id: work.row for work in works}.values():
        if row.serve is not None and (executed := row.serve.executes):
            yield (
                f"{row.id}: its row runs code on this machine, outside the sandbox ({'; '.join(executed)}):"
                " only for rows whose author you trust"
            )
        if row.api is not None and row.api.key_env and not row.api.send_key_to:
            hosts.setdefault(row.api.key_env, set()).add(urlsplit(row.api.base_url).netloc)
    for variable, places in hosts.items():
        if len(places) > 1:
            yield (
                f"the key in ${variable} goes to several hosts ({', '.join(sorted(places))}): name a"
                " variable for each, or confirm each with `send_key_to` in its row"
            )


def show_estimates(estimates: Sequence[ModelEstimate], screen: Screen) -> None:
    """Prints a line for each model and suite, then the totals of each model."""
    columns = ["units", "open", "tokens out"]
    by_suite = table(
        "model, suite", *columns, "estimated from", right=columns, whole=["model, suite", *columns]
    )
    for model in estimates:
        by_suite.add_row(model.model)
        for suite in model.suites:
            no_basis = "not asked, see below" if suite.kept_apart or suite.error else "done"
            basis = suite.cost.basis if suite.open else no_basis
            tokens = _round(suite.cost.output_tokens)
            by_suite.add_row(f"  {suite.suite}", f"{suite.units}", f"{suite.open}", tokens, basis)
    screen.print(by_suite)
    columns = ["requests", "tokens in", "tokens out", "USD", "hours"]
    totals = table("model", *columns, right=columns, whole=["model", *columns])
    for model in estimates:
        cost = model.cost
        amounts = map(_round, (cost.requests, cost.input_tokens, cost.output_tokens))
        usd = "no price" if model.usd is None else f"{model.usd:.2f}"
        totals.add_row(model.model, *amounts, usd, "" if model.hours is None else f"{model.hours:.2f}")
    screen.print(totals)
    asked = [model for model in estimates if model.cost.requests]
    for speed in dict.fromkeys(model.speed for model in asked):
        models = ", ".join(model.model for model in asked if model.speed == speed)
        screen.print_message(f"speed of {models}: {speed}")
    suites = [suite for model in estimates for suite in model.suites]
    if judged := [suite for suite in suites if suite.judge and suite.open]:
        units = counted(sum(suite.open for suite in judged), "unit")
        screen.print_message(
            f"not counted: the judge {judged[0].judge}, asked at most twice at the end of each of {units}"
        )
    for suite in suites:
        if said := suite.kept_apart or suite.error:
            screen.print_message(said)
    if any(suite.open and "at most" in suite.cost.basis for suite in suites):
        screen.print_message(
            "At most: where only first prompts are known, replies are taken at their token limit and loops"
            " as passed to their end; a small run first gives the amounts to be expected."
        )


def _round(amount: float) -> str:
    return f"{amount:,.0f}" if amount < 1e6 else f"{amount / 1e6:,.1f} M"


def show_summary(
    summary: Summary, control: Control, progress: ConsoleProgress, folder: ResultsFolder, screen: Screen
) -> None:
    """Prints what was done, what stays open and why, and what it cost."""
    accounts = control.accounts
    if accounts:
        screen.print(progress.final())
    lines = [*costs(accounts)]
    if summary.stopped:
        lines.append(f"stopped: {summary.stopped}")
    lines += [*_open_units(summary), *summary.notes]
    for account in accounts:
        lines += warnings_about(account)
    for name, why in summary.other_protocol.items():
        lines.append(kept_apart(folder, why, *name.split(" ")))
    lines += [f"not finished: {error}" for error in summary.errors]
    finished = f"{counted(summary.finished, 'unit')} finished, {summary.open} open"
    lines.append(f"{finished}; results in {folder.root}{os.sep}")
    for line in lines:
        screen.print_message(line)


def _open_units(summary: Summary) -> list[str]:
    """Returns how many units are open for each frequent reason that stopped no model, then the rest."""
    stopped = {error.partition(": ")[2] for error in summary.errors}
    frequent = summary.failures.most_common(_REASONS)
    counts = Counter({reason: count for reason, count in frequent if reason not in stopped})
    remaining = summary.open - counts.total()
    if counts and remaining > 0:
        counts["not asked, not asked to the end, or for other reasons"] = remaining
    return [f"open, {counted(count, 'unit')}: {reason}" for reason, count in counts.items()]


def warnings_about(account: Account) -> Iterator[str]:
    """Yields what to know of a server: tokens not counted, nothing to grade, a full context, no replies."""
    stats, outcomes = account.stats, account.stats.outcomes
    if stats.uncounted:
        unknown = "the cost is estimated" if account.price else "so is the cost"
        yield (
            f"the server of {account.model} gave no usable token counts for"
            f" {counted(stats.uncounted, 'reply')}: tokens are unknown, {unknown}"
        )
    total = outcomes.total()
    for outcome, advice in _UNUSABLE.items():
        count = outcomes[outcome]
        if not count or count < _NEARLY_ALL * total:
            continue
        is_full = outcome is Outcome.TRUNCATED and stats.cut_by_context > stats.truncated
        description, remedy = _CUT_BY_CONTEXT if is_full else advice
        amount = "all" if count == total else f"{count} of"
        which = f"the replies to {amount} {total} questions were" if total > 1 else "its only reply was"
        yield f"warning: {account.model}: {which} {description} (outcome {outcome}): {remedy}"
    if stats.too_long or stats.cut_by_context:
        yield (
            f"{account.model}: {counted(stats.too_long, 'question')} refused as longer than the context of"
            f" its server, {counted(stats.cut_by_context, 'reply')} cut because question and reply filled"
            f" it, {stats.truncated} cut at the token limit: see `context` and `max_tokens` in its row"
        )
    if stats.retried_error:  # a stopped run gives its units no reason of their own
        yield f"the last error of {account.model}: {stats.retried_error}"


def costs(accounts: Sequence[Account]) -> Iterator[str]:
    """Yields what was spent; nothing where no price is known."""
    if any(account.price for account in accounts):
        usd, part = sum(account.usd for account in accounts), about_cost(accounts)
        yield f"{usd:.4f} USD spent in this run{', ' if part else ''}{part}"


def about_cost(accounts: Sequence[Account]) -> str:
    """Returns what the cost leaves out and which part of it is estimated, and why; empty for neither."""
    parts = []
    without = {account.model for account in accounts if account.stats.answered and not account.price}
    if without:
        parts.append(f"without {', '.join(sorted(without))}, for which no price is known")
    priced = [account for account in accounts if account.price]
    reasons = []
    if names := ", ".join(sorted({account.model for account in priced if account.stats.uncounted})):
        reasons.append(f"by the length of texts: the server of {names} gives no usable token counts")
    if lost := sum(account.stats.lost for account in priced):
        reasons.append(f"by the mean of the others: {counted(lost, 'reply')} lost, which may be charged for")
    if reasons:
        usd = sum(account.usd_estimated for account in priced)
        parts.append(f"{usd:.4f} of it estimated {'; and '.join(reasons)}")
    return "; ".join(parts)
