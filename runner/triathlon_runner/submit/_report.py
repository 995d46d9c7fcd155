"""The report about a submission, as Markdown for a pull request and as JSON."""

from dataclasses import asdict, dataclass, field
from typing import Any, Final

from triathlon_runner.submit._check import Problem
from triathlon_runner.terminal import counted, first_of, in_markdown

SHOWN: Final = 20
"""Problems of a file that are printed; the JSON has all."""


@dataclass(slots=True)
class FileCheck:
    """One suite of a submission."""

    suite: str
    sha256: str = ""
    """Of the results file."""
    units: int = 0
    verified: int = 0
    """Units that were graded again with the same result."""
    planned: int = 0
    """Units of the whole suite: its tasks, each with as many samples as any has; 0 where not known."""
    scores: dict[str, float] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    @property
    def accepted(self) -> bool:
        """Whether it has no problem."""
        return not self.problems

    @property
    def marked(self) -> bool:
        """Whether it gets the mark "graded again here": no problem, and a line for every planned unit."""
        return self.accepted and self.units == self.planned

    def cells(self) -> tuple[str, ...]:
        """Returns suite, units of those planned, units with the same result, three scores, and result."""
        scores = ", ".join(f"{name} {value:.6g}" for name, value in list(self.scores.items())[:3])
        units = str(self.units) if self.units == self.planned else f"{self.units} of {self.planned or '?'}"
        result = "accepted"
        if not self.marked:
            result = f"accepted without mark and rank: {self.planned - self.units} open"
        if not self.accepted:
            result = counted(len(self.problems), "problem")
        return self.suite, units, str(self.verified), scores, result


@dataclass(slots=True)
class SubmissionReport:
    """The result of checking a submission."""

    model: str
    engine_version: int
    files: list[FileCheck]
    problems: list[Problem]
    """Problems that are of no single suite."""
    listed: bool
    """Whether models.yaml has a row for the model."""

    @property
    def accepted(self) -> bool:
        """Whether the submission can be taken as it is."""
        return not self.problems and all(file.accepted for file in self.files)

    @property
    def marked(self) -> bool:
        """Whether all its suites get the mark."""
        return not self.problems and all(file.marked for file in self.files)

    def as_json(self) -> dict[str, Any]:
        """Returns the document of `--json`."""
        return {"schema": 1, "accepted": self.accepted, **asdict(self)}

    def markdown(self) -> str:
        """Returns the report as a comment on a pull request."""
        verdict = "can be taken" if self.accepted else "**cannot be taken yet**"
        lines = [
            f"## Submission of `{self.model}`: {verdict}",
            "",
            self.what_was_graded(),
            "",
            "| suite | units | graded again, equal | scores | result |",
            "| --- | --- | --- | --- | --- |",
        ]
        lines += [f"| {' | '.join(map(in_markdown, file.cells()))} |" for file in self.files]
        if not self.listed:
            lines += ["", self.about_missing_row()]
        for title, problems in (("Files", self.problems), *((f.suite, f.problems) for f in self.files)):
            lines += _section(title, problems)
        return "\n".join(lines) + "\n"

    def what_was_graded(self) -> str:
        """Returns how many units had the same result when graded again, and what no check can show."""
        equal, units = sum(file.verified for file in self.files), sum(file.units for file in self.files)
        same = counted(units, "unit") if equal == units else f"{equal} of {counted(units, 'unit')}"
        return (
            f"{same} in {counted(len(self.files), 'suite')} graded again by engine {self.engine_version} with"
            " the same result. That the replies came from this model cannot be shown by any check."
        )

    def about_missing_row(self) -> str:
        """Returns what to do where the model has no row."""
        return f"models.yaml has no row `{self.model}`: add one with name, organisation and link."


def _section(title: str, problems: list[Problem]) -> list[str]:
    if not problems:
        return []
    lines = [in_markdown(f"{problem.place}: {problem.message}") for problem in problems]
    return ["", f"### {in_markdown(title)}", "", *(f"- {line}" for line in first_of(lines, SHOWN))]
