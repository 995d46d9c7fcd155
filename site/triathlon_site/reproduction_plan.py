"""Which suites reproduce a paper, and which column of its tables each of their metrics is.

The places stand in `reproduction_plan.csv`. Light to import: `triathlon reproduce` reads it before anything
else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from triathlon_site import packaged_table

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
        return replace(self, titles=titles, places=tuple(p for p in self.places if p.table in tables))


def _places(paper: PaperName) -> tuple[Place, ...]:
    places = []
    for row in packaged_table("reproduction_plan.csv"):
        if row["paper"] == paper:
            words = row["parts"].split()
            parts = tuple(zip(words[::2], words[1::2], strict=True))
            where = row["where"], row["holds"]
            places.append(Place(row["table"], row["column"], parts, where, row["composition"]))
    return tuple(places)


PAPERS: Final[Mapping[PaperName, Paper]] = {
    "evaloop": Paper(
        "EVALOOOP",
        {
            "evaloop": "Table 2, robustness",
            "evaloop_attacks": "Table 1, attacks on the first prompt",
            "evaloop_prompts": "Table 3, other summary prompts",
            "evaloop_temperatures": "Table 4, other temperatures",
            "evaloop_sampling": "Section 3.5 and figure 3, greedy and sampled",
            "evaloop_translation": "Section 5, translation loop",
        },
        _places("evaloop"),
        (
            "The attacks and the other summary prompts are our wording of the paper’s listings 3.1 and 3.2,"
            " of which there is no file; the two prompts of the loop and the judge’s are the authors’ own.",
            "Without a judge in models.yaml ASL is known as a range: shown and compared is the range, and the"
            " difference is from its middle.",
            "Figure 3 names no temperature: five runs at 0.8, the highest of table 4, stand for “sampled”.",
            "The translation prompt is our wording, on the 957 tasks of MBXP that all five languages have.",
        ),
    ),
    "reval": Paper(
        "REval",
        {"reval": "Table III, the four questions and consistency"},
        _places("reval"),
        (
            "Asked with the authors’ prompts, five times at temperature 0.8, and graded by the authors’ rule"
            " for outputs and with the truths of their tracer for states and paths. The tracer is a model of"
            " theirs, whose code is not here: theirs was counted to differ from ours in 52 paths, 180 states"
            " and 188 of the 3,152 questions, the model differs in 52, 180 and 191.",
            "An answer about coverage that is neither YES nor NO is wrong here; the authors’ program takes it"
            " as NO.",
            "The paper asks its two GPT models once.",
        ),
    ),
    "evoeval": Paper(
        "EvoEval",
        {"evoeval": "Table 1, pass@1", "evoeval_combine": "Table 2, composition"},
        _places("evoeval"),
        (
            "EvoEval’s instruction differs by family of models in its code; ours is one for all.",
            "Table 2’s set combine_naive is not compared: the paper’s pairs of problems were not released,"
            " and evolved/combine_naive has others.",
            "Table 3 cannot be reproduced: the paper’s own DECOMPOSE set was not released; triathlon evolve"
            " with --transformations decompose and --seeds evolved/humaneval makes one.",
        ),
    ),
}
