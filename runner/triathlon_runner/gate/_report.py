"""A gate's report: as text, as a summary for continuous integration, as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from triathlon_runner.gate._comparison import Comparison
from triathlon_runner.schedule import Summary
from triathlon_runner.store import ResultsFolder
from triathlon_runner.terminal import counted, first_of, in_markdown

EXIT_CODES: Final = {"better": 0, "not worse": 0, "worse": 1, "undecided": 3, "none": 2}
"""By verdict; `none` where an error kept the gate from one."""
_SHOWN = 20
"""Lost tasks that are printed; the JSON has all."""


def report_of(
    comparison: Comparison,
    folder: ResultsFolder,
    summary: Summary,
    *,
    suites: Sequence[str],
    seed: int,
    usd: float | None,
) -> dict[str, Any]:
    """Returns the document of `--json`: the result, with file and line of the evidence for each lost task.

    `summary` is an empty one where the stored results sufficed, `usd` is None where models were asked and
    none of them has a price.
    """
    errors = [
        *summary.errors,
        *(
            f"{name} holds results of {why}; put them aside with `triathlon results archive`, or name another"
            " --results"
            for name, why in summary.other_protocol.items()
        ),
    ]
    if not comparison.compared:
        errors = errors or list(summary.failures)
    verdict = "none" if errors and not comparison.decided else comparison.verdict
    return {
        "schema": 1,
        "baseline": comparison.models[0],
        "candidate": comparison.models[1],
        "verdict": verdict,
        "suites": list(suites),
        "tasks": len(comparison.compared),
        "tasks_planned": sum(map(len, comparison.planned)),
        "clusters": comparison.clusters,
        "clusters_left_out": comparison.left_out,
        "asked": summary.asked,
        "usd": usd,
        "difference": comparison.difference if comparison.clusters else None,
        "interval": list(comparison.interval) if comparison.clusters else [-1.0, 1.0],
        "alpha": comparison.alpha,
        "margin": comparison.margin,
        "seed": seed,
        "won": comparison.won(),
        "lost": _lost_tasks(comparison, folder),
        "stopped": summary.stopped,
        "errors": errors,
        "notes": list(summary.notes),
        "exit_code": EXIT_CODES[verdict],
    }


def _lost_tasks(comparison: Comparison, folder: ResultsFolder) -> list[dict[str, Any]]:
    """Returns each task on which the candidate's score was lower: scores, file and line of both models."""
    lost = [asdict(task) for task in comparison.lost()]
    for role, model in zip(("baseline", "candidate"), comparison.models, strict=True):
        for suite in {task["suite"] for task in lost}:
            path = folder.lines(model, suite)
            with path.open("rb") as lines:
                records = [json.loads(line) for line in lines if line.endswith(b"\n")]  # not a torn one
            numbers = {line["task_id"]: n for n, line in enumerate(records, 1) if line["sample"] == 0}
            for task in lost:
                if task["suite"] == suite:
                    task[f"{role}_file"], task[f"{role}_line"] = str(path), numbers[task["task_id"]]
    return lost


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """Returns the report for people, a sentence a line."""
    lines = _sentences(report)
    if lost := report["lost"]:
        lines.append(f"{_lost_and_won(report)}; lost:")
        details = [
            f"  {task['suite']} {task['task_id']}: {task['baseline']:.2f} to {task['candidate']:.2f},"
            f" {_evidence(task)}"
            for task in lost
        ]
        lines += first_of(details, _SHOWN, " (--json has all)")
    return lines


def report_markdown(report: Mapping[str, Any]) -> str:
    """Returns the report for the summary of a workflow: the same sentences, and a table of what was lost."""
    verdict, *others = _sentences(report)
    settings = f"α {report['alpha']:g}, margin {report['margin']:g}, seed {report['seed']}"
    others.append(f"suites {', '.join(report['suites'])}; {settings}")
    lines = [f"## {in_markdown(verdict)}", "", *(f"- {in_markdown(sentence)}" for sentence in others)]
    if report["lost"]:
        lines += ["", f"{in_markdown(_lost_and_won(report))}.", ""]
        lines += ["| suite | task | baseline | candidate | evidence |"]
        lines += ["| --- | --- | --- | --- | --- |"]
    for task in report["lost"]:
        scores = f"{task['baseline']:.2f}", f"{task['candidate']:.2f}"
        cells = map(in_markdown, (task["suite"], task["task_id"], *scores, _evidence(task)))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _sentences(report: Mapping[str, Any]) -> list[str]:
    """Returns verdict, difference and effort; then what kept tasks from being compared, errors and notes."""
    verdict, margin = report["verdict"], ""
    if report["margin"] and verdict in ("worse", "not worse"):
        margin = f" by more than {report['margin']:g}"
    headline = {
        "none": "NO VERDICT (the errors below kept tasks from being compared; fix them and run again)",
        "undecided": "UNDECIDED (the tasks so far show neither that it is worse nor that it is not)",
    }.get(verdict, f"{verdict.upper()}{margin}")
    low, high = report["interval"]
    measured = "unknown: no task was compared"
    if report["difference"] is not None:
        confidence = f"{100 * (1 - report['alpha']):g} %, valid whenever one stops"
        measured = f"{report['difference']:+.3f}, interval {low:+.3f} to {high:+.3f} ({confidence})"
    usd = "no price" if report["usd"] is None else f"{report['usd']:.4f} USD"
    lines = [
        f"{report['candidate']} against {report['baseline']}: {headline}",
        f"difference {measured}",
        f"{report['tasks']} of {counted(report['tasks_planned'], 'task')} compared, in"
        f" {counted(report['clusters'], 'cluster')}; {counted(report['asked'], 'unit')} asked now; {usd}",
    ]
    if report["clusters_left_out"]:
        lines.append(
            f"{counted(report['clusters_left_out'], 'cluster')} of tasks not compared: a task of each"
            " stays open; run the same command again to ask it"
        )
    if report["stopped"] and verdict in ("undecided", "none"):
        lines.append(f"stopped: {report['stopped']}")
    return [*lines, *(f"error: {text}" for text in report["errors"]), *report["notes"]]


def _lost_and_won(report: Mapping[str, Any]) -> str:
    return f"{report['candidate']} lost {counted(len(report['lost']), 'task')} and won {report['won']}"


def _evidence(lost: Mapping[str, Any]) -> str:
    """Returns file and line of the candidate's evidence, as editors and terminals take it."""
    return f"{lost['candidate_file']}:{lost['candidate_line']}"
