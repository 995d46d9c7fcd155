"""A gate's report: as text, as a summary for continuous integration, as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from triathlon_runner.gate._comparison import Comparison, TaskScores
from triathlon_runner.gate._sequential import Verdict
from triathlon_runner.schedule import Summary
from triathlon_runner.store import ResultsFolder
from triathlon_runner.terminal import counted, in_markdown
from triathlon_runner.unit_pages import SITE_FOLDER, unit_address

Result = Verdict | Literal["none"]
"""The test's verdict; "none" where an error kept the gate from one."""
EXIT_CODES: Final[dict[Result, int]] = {"better": 0, "not worse": 0, "worse": 1, "undecided": 3, "none": 2}
_SHOWN = 20
"""Lost tasks that are printed; the JSON has all."""


@dataclass(frozen=True, slots=True)
class LostTask(TaskScores):
    """A task on which the candidate's score was lower, with file and line of both replies."""

    baseline_file: str
    candidate_file: str
    baseline_line: int
    """Of `baseline_file`, from 1."""
    candidate_line: int
    baseline_page: str
    """Where the site lists the task, with a link to its prompt, reply and verdict."""
    candidate_page: str

    @property
    def evidence(self) -> str:
        """File and line of the candidate's prompt, reply and verdict, as editors and terminals take it."""
        return f"{self.candidate_file}:{self.candidate_line}"


@dataclass(frozen=True, slots=True)
class GateReport:
    """The result of a gate."""

    baseline: str
    candidate: str
    verdict: Result
    suites: tuple[str, ...]
    tasks: int
    """Number of tasks that were compared, the same for both models."""
    tasks_planned: int
    clusters: int
    clusters_left_out: int
    """Clusters with an open task (a server failed); they do not count."""
    asked: int
    """Units that were asked by this gate; the others were in the results folder or the cache of replies."""
    usd: float | None
    """None where models were asked and none of them has a price."""
    difference: float | None
    """Candidate's mean score minus the baseline's, scores from 0 to 1; None without a compared task."""
    interval: tuple[float, float]
    alpha: float
    margin: float
    seed: int
    won: int
    lost: tuple[LostTask, ...]
    stopped: str
    """Why the gate stopped before it had a verdict: the budget, Ctrl-C, a server."""
    errors: tuple[str, ...] = ()
    """Why a model could not be asked, each with what to do."""
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: not worse, 1: worse, 2: an error kept it from a verdict, 3: undecided."""
        return EXIT_CODES[self.verdict]

    def as_json(self) -> dict[str, Any]:
        """Returns the document of `--json`."""
        return {"schema": 1, **asdict(self), "exit_code": self.exit_code}

    def lines(self) -> list[str]:
        """Returns the report for people, a sentence a line."""
        lines = [
            f"{self.candidate} against {self.baseline}: {self.headline}",
            f"difference {self.measured}",
            self.effort,
        ]
        if self.clusters_left_out:
            lines.append(
                f"{counted(self.clusters_left_out, 'cluster')} of tasks not compared: a server failed on a"
                " task of each; run the same command again to ask it"
            )
        lines += [text if kind == "note" else f"{kind}: {text}" for kind, text in self._remarks()]
        if self.lost:
            lines.append(f"{self._lost_and_won}; lost:")
            lines += [
                f"  {lost.suite} {lost.task_id}: {lost.baseline:.2f} to {lost.candidate:.2f}, {lost.evidence}"
                for lost in self.lost[:_SHOWN]
            ]
            if len(self.lost) > _SHOWN:
                lines.append(f"  and {len(self.lost) - _SHOWN} more (--json has all)")
            page = self.lost[0].candidate_page.partition("#")[0]
            lines.append(f"after `triathlon build` as a page: {page}")
        return lines

    def _remarks(self) -> list[tuple[str, str]]:
        """Why it stopped without a verdict, errors and notes, each with its kind."""
        open_end = self.stopped and self.verdict in ("undecided", "none")
        stopped = [("stopped", self.stopped)] if open_end else []
        return [
            *stopped,
            *(("error", text) for text in self.errors),
            *(("note", text) for text in self.notes),
        ]

    @property
    def _lost_and_won(self) -> str:
        return f"{self.candidate} lost {counted(len(self.lost), 'task')} and won {self.won}"

    @property
    def headline(self) -> str:
        """The verdict in words."""
        margin = f" by more than {self.margin:g}" if self.margin else ""
        if self.verdict == "none":
            return "NO VERDICT (the errors below kept tasks from being compared; mend them and run again)"
        if self.verdict == "undecided":
            return "UNDECIDED (the tasks so far show neither that it is worse nor that it is not)"
        return "BETTER" if self.verdict == "better" else f"{self.verdict.upper()}{margin}"

    @property
    def measured(self) -> str:
        """The difference with its interval."""
        if self.difference is None:
            return "unknown: no task was compared"
        low, high = self.interval
        confidence = f"{100 * (1 - self.alpha):g} %, valid whenever one stops"
        return f"{self.difference:+.3f}, interval {low:+.3f} to {high:+.3f} ({confidence})"

    @property
    def effort(self) -> str:
        """Tasks and money."""
        usd = "no price" if self.usd is None else f"{self.usd:.4f} USD"
        return (
            f"{self.tasks} of {counted(self.tasks_planned, 'task')} compared, in"
            f" {counted(self.clusters, 'cluster')}; {counted(self.asked, 'unit')} asked now; {usd}"
        )

    def markdown(self) -> str:
        """Returns the report for the summary of a workflow."""
        rows = [
            ("difference", self.measured),
            ("tasks", self.effort),
            ("suites", ", ".join(self.suites)),
            ("α, margin, seed", f"{self.alpha:g}, {self.margin:g}, {self.seed}"),
        ]
        text = (
            f"## {in_markdown(self.candidate)} against {in_markdown(self.baseline)}\n\n| | |\n| --- | --- |\n"
        )
        text += f"| verdict | **{in_markdown(self.headline)}** |\n"
        text += "".join(f"| {name} | {in_markdown(value)} |\n" for name, value in (*rows, *self._remarks()))
        if self.lost:
            text += f"\n{in_markdown(self._lost_and_won)}.\n\n"
            text += "| suite | task | baseline | candidate | evidence | page |\n"
            text += "| --- | --- | --- | --- | --- | --- |\n"
        for lost in self.lost:
            scores = f"{lost.baseline:.2f}", f"{lost.candidate:.2f}"
            cells = map(in_markdown, (lost.suite, lost.task_id, *scores, lost.evidence))
            text += f"| {' | '.join(cells)} | [open](<{lost.candidate_page}>) |\n"
        return text


def report_of(
    comparison: Comparison,
    folder: ResultsFolder,
    summary: Summary,
    *,
    suites: Sequence[str],
    seed: int,
    usd: float | None,
    site: str = SITE_FOLDER,
) -> GateReport:
    """Returns the result of the comparison, with file and line of the evidence for each lost task.

    `usd` is None where models were asked and none of them has a price; `site` is the folder or web address in
    front of the pages that are named.
    """
    baseline, candidate = comparison.models
    errors = (*summary.errors, *_errors_of_other_models(summary))
    return GateReport(
        baseline=baseline,
        candidate=candidate,
        verdict="none" if errors and not comparison.decided else comparison.verdict,
        suites=tuple(suites),
        tasks=comparison.tasks,
        tasks_planned=sum(len(cluster.tasks) for cluster in comparison.planned),
        clusters=comparison.clusters,
        clusters_left_out=comparison.left_out,
        asked=summary.asked,
        usd=usd,
        difference=comparison.difference if comparison.clusters else None,
        interval=comparison.interval if comparison.clusters else (-1.0, 1.0),
        alpha=comparison.alpha,
        margin=comparison.margin,
        seed=seed,
        won=comparison.won(),
        lost=_lost_tasks(comparison, folder, site),
        stopped=summary.stopped,
        errors=errors,
        notes=tuple(summary.notes),
    )


def _lost_tasks(comparison: Comparison, folder: ResultsFolder, site: str) -> tuple[LostTask, ...]:
    lost = comparison.lost()
    files = {(m, task.suite): folder.lines(m, task.suite) for task in lost for m in comparison.models}
    lines = {key: _line_numbers(path) for key, path in files.items()}
    return tuple(
        LostTask(
            *astuple(task),
            *(str(files[model, task.suite]) for model in comparison.models),
            *(lines[model, task.suite][task.task_id] for model in comparison.models),
            *(unit_address(site, model, task.suite, task.task_id) for model in comparison.models),
        )
        for task in lost
    )


def _line_numbers(path: Path) -> dict[str, int]:
    """By task_id, the line number of its first sample; a torn last line does not count."""
    with path.open("rb") as lines:
        records = [json.loads(line) for line in lines if line.endswith(b"\n")]
    return {
        record["task_id"]: number for number, record in enumerate(records, start=1) if record["sample"] == 0
    }


def _errors_of_other_models(summary: Summary) -> list[str]:
    """An error for each results file whose lines are of another model than the one that answers now."""
    return [
        f"{name} holds results of {why}; put them aside with `triathlon results archive`, or name another"
        " --results"
        for name, why in summary.other_protocol.items()
    ]
