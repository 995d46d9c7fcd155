"""Which suites reproduce a paper, and which column of its tables each of their metrics is.

Light to import: `triathlon reproduce` reads it before anything else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

PaperName = Literal["evaloop", "reval", "evoeval"]


@dataclass(frozen=True, slots=True)
class Place:
    """One column of a published table, and our own figures for it."""

    table: str
    column: str
    parts: tuple[tuple[str, str], ...]
    """Suites and metrics whose mean it is."""
    where: tuple[str, str] = ("kind", "model")
    """A column of the table and what it holds in the rows that count: some have models once more, asked
    otherwise or on another set."""
    composition: str = ""
    """For a count of the composition table, its name there; the suites of `parts` give it."""

    @property
    def suites(self) -> tuple[str, ...]:
        return tuple(suite for suite, _ in self.parts)


@dataclass(frozen=True, slots=True)
class Paper:
    """What of a paper is run and compared."""

    title: str
    titles: Mapping[str, str]
    """Of its tables, by name of the published one."""
    places: tuple[Place, ...]
    notes: tuple[str, ...]
    """What cannot be as the paper has it, and what a reader has to know; a sentence each."""

    @property
    def suites(self) -> list[str]:
        """The suites that it takes."""
        return list(dict.fromkeys(suite for place in self.places for suite in place.suites))

    def of_tables(self, tables: list[str]) -> "Paper":
        """The same paper with these of its tables alone."""
        titles = {name: title for name, title in self.titles.items() if name in tables}
        return Paper(self.title, titles, tuple(p for p in self.places if p.table in tables), self.notes)


_LOOP: Final = "loop/mbpp-plus"
_PROMPTS: Final = ("detailed", "upper", "structured", "simplified", "redundant")
_TEMPERATURES: Final = ("0.2", "0.4", "0.6", "0.8")
_SAMPLED: Final = f"{_LOOP}@temperature-0.8"


def _asl(table: str, column: str, variant: str = "") -> Place:
    return Place(table, column, ((f"{_LOOP}{variant}", "asl_low"),))


def _first(column: str, variant: str = "") -> Place:
    return Place("evaloop_attacks", column, ((f"{_LOOP}{variant}", "pass_at_1"),))


EVALOOP: Final = Paper(
    "EVALOOOP",
    {
        "evaloop": "Table 2, robustness",
        "evaloop_attacks": "Table 1, attacks on the first prompt",
        "evaloop_prompts": "Table 3, other summary prompts",
        "evaloop_temperatures": "Table 4, other temperatures",
        "evaloop_sampling": "Section 3.5 and figure 3, greedy and sampled",
        "evaloop_translation": "Section 5, translation loop",
    },
    (
        _asl("evaloop", "asl"),
        Place("evaloop", "pass_at_1", ((_LOOP, "pass_at_1"),)),
        Place("evaloop", "drop", ((_LOOP, "drop"),)),
        _first("original"),
        *(_first(name, f"@attack-{name}") for name in ("upper", "structured", "redundant")),
        _asl("evaloop_prompts", "baseline"),
        *(
            _asl("evaloop_prompts", f"prompt_{number}", f"@prompt-{name}")
            for number, name in enumerate(_PROMPTS, 1)
        ),
        _asl("evaloop_temperatures", "baseline"),
        *(_asl("evaloop_temperatures", f"t_{value}", f"@temperature-{value}") for value in _TEMPERATURES),
        Place("evaloop_sampling", "greedy", ((_LOOP, "loops"),)),
        Place("evaloop_sampling", "sampled", ((_SAMPLED, "loops"),)),
        Place("evaloop_translation", "asl", (("translation/mbxp", "asl"),)),
    ),
    (
        "The attacks and the other summary prompts are our wording of the paper’s listings 3.1 and 3.2, of"
        " which there is no file; the two prompts of the loop and the judge’s are the authors’ own.",
        "Without a judge in models.yaml ASL is known as a range: shown and compared is the range, and the"
        " difference is from its middle.",
        "Figure 3 names no temperature: five runs at 0.8, the highest of table 4, stand for “sampled”.",
        "The translation prompt is our wording, on the 957 tasks of MBXP that all five languages have.",
    ),
)

_REVAL_METRICS: Final = {
    "coverage_accuracy": "coverage_accuracy",
    "coverage_f1": "coverage_f1",
    "state_accuracy": "state_accuracy",
    "path_accuracy": "path_accuracy",
    "output_accuracy": "output_accuracy",
    "average": "average_accuracy",
    "ic": "ic",
}
REVAL: Final = Paper(
    "REval",
    {"reval": "Table III, the four questions and consistency"},
    tuple(
        Place("reval", column, ((f"runtime/dreval@{variant}", metric),), ("kind", kind))
        for kind, variant in (("model", "reval-truths"), ("cot", "cot+reval-truths"))
        for column, metric in _REVAL_METRICS.items()
    ),
    (
        "Asked with the authors’ prompts, five times at temperature 0.8, and graded by the authors’ rule for"
        " outputs and with the truths of their tracer for states and paths. The tracer is a model of theirs,"
        " whose code is not here: theirs was counted to differ from ours in 52 paths, 180 states and 188 of"
        " the 3,152 questions, the model differs in 52, 180 and 191.",
        "An answer about coverage that is neither YES nor NO is wrong here; the authors’ program takes it as"
        " NO.",
        "The paper asks its two GPT models once.",
    ),
)

_SETS: Final = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use")
_COMPOSITION: Final = {
    "humaneval_pass_both": "both",
    "humaneval_pass_one": "one",
    "humaneval_pass_none": "none",
    "solved_pass_both": "solved_both",
    "solved_pass_one": "solved_one",
    "solved_pass_none": "solved_none",
    "composition": "composition",
}


EVOEVAL: Final = Paper(
    "EvoEval",
    {"evoeval": "Table 1, pass@1", "evoeval_combine": "Table 2, composition"},
    (
        Place("evoeval", "humaneval", (("evolved/humaneval", "pass@1"),)),
        Place("evoeval", "humaneval_plus", (("evolved/humaneval-plus", "pass@1"),)),
        *(
            Place("evoeval", name, ((f"evolved/{name}", "pass@1"),))
            for name in (*_SETS[1:], "verbose", "concise")
        ),
        Place("evoeval", "evoeval", tuple((f"evolved/{name}", "pass@1") for name in _SETS)),
        *(
            Place(
                "evoeval_combine",
                column,
                (("evolved/humaneval", "pass@1"), ("evolved/combine", "pass@1")),
                ("dataset", "combine"),
                composition=name,
            )
            for column, name in _COMPOSITION.items()
        ),
    ),
    (
        "EvoEval’s instruction differs by family of models in its code; ours is one for all.",
        "Table 2’s set combine_naive is not compared: the paper’s pairs of problems were not released, and"
        " evolved/combine_naive has others.",
        "Table 3 cannot be reproduced: the paper’s own DECOMPOSE set was not released; triathlon evolve with"
        " --transformations decompose and --seeds evolved/humaneval makes one.",
    ),
)
PAPERS: Final[Mapping[PaperName, Paper]] = {"evaloop": EVALOOP, "reval": REVAL, "evoeval": EVOEVAL}
