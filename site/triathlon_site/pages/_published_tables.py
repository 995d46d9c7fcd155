"""The smaller tables beside the published rankings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from triathlon_runner.loop import sensitivity
from triathlon_site.published import Published, PublishedBoard

PROMPTS: Final = {
    "prompt_1": "detailed",
    "prompt_2": "upper case",
    "prompt_3": "structured",
    "prompt_4": "simplified",
    "prompt_5": "redundant",
}
TEMPERATURES: Final = {"t_0.2": "0.2", "t_0.4": "0.4", "t_0.6": "0.6", "t_0.8": "0.8"}
ATTACKS: Final = {"upper": "upper case", "structured": "structured", "redundant": "redundant"}


@dataclass(frozen=True, slots=True)
class SideTable:
    """A smaller published table beside a ranking."""

    title: str
    text: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def side_tables(published: Published, board: PublishedBoard) -> Iterator[SideTable]:
    tables = published.tables
    if board.id == "evaloop":
        yield _variants(tables["evaloop_prompts"], PROMPTS, "Other summary prompts", "summary prompts")
        yield _variants(tables["evaloop_temperatures"], TEMPERATURES, "Other temperatures", "temperatures")
        yield _plain(
            tables["evaloop_attacks"],
            {"original": "original", **ATTACKS},
            "Attacks on the first prompt",
            "pass@1 with the prompt as it is, in upper case, in labelled structure, or told redundantly.",
        )
        yield _plain(
            tables["evaloop_translation"],
            {"asl": "ASL"},
            "Translation loop",
            "ASL over five languages, of at most 5.",
        )
    if board.id == "evoeval":
        yield _drops(board)
        for dataset, title in (("combine", "Composition"), ("combine_naive", "Composition, naive pairs")):
            yield _plain(
                [row for row in tables["evoeval_combine"] if row["dataset"] == dataset],
                {
                    "humaneval_pass_both": "both parents solved",
                    "solved_pass_both": "of these, combined solved",
                    "composition": "composition, %",
                },
                title,
                "Of the combined problems whose two parents a model solves, how many it solves.",
            )
        yield _plain(
            tables["evoeval_decompose"],
            {
                "humaneval_pass": "seeds solved",
                "pass_both": "of these, both halves",
                "decomposition": "decomposition, %",
                "humaneval_fail": "seeds failed",
                "fail_both": "of these, both halves",
                "recomposition": "recomposition, %",
            },
            "Decomposition",
            "Seeds cut into halves: a model that solves a whole should solve its halves.",
        )


def _variants(
    rows: Sequence[Mapping[str, str]], names: Mapping[str, str], title: str, what: str
) -> SideTable:
    base = {row["model"]: float(row["baseline"]) for row in rows}
    variants = {name: {row["model"]: float(row[name]) for row in rows} for name in names}
    found = sensitivity(base, variants)
    text = (
        f"ASL of {found.models} models under {len(names)} {what}. Spearman between the baseline’s ranks and"
        f" the mean ranks under the variants: {found.spearman:.3f}."
    )
    return _plain(rows, {"baseline": "baseline", **names}, title, text)


def _drops(board: PublishedBoard) -> SideTable:
    """Relative decrease from HumanEval, averaged over models (EvoEval, section 4)."""
    rows = []
    paper = [row for row in board.rows if row.record["in_paper"] == "1"]
    for column in board.columns:
        if column.id in {"difficult", "creative", "subtle", "combine", "tool_use"}:
            drops = [1 - row.scores[column.id].value / row.scores["humaneval"].value for row in paper]
            rows.append((column.title, f"{100 * sum(drops) / len(drops):.1f}", str(len(drops))))
    return SideTable(
        "Drop from HumanEval",
        "Relative decrease of pass@1 from HumanEval to a set, mean over the paper’s models.",
        ("set", "drop, %", "models"),
        tuple(rows),
    )


def _plain(rows: Sequence[Mapping[str, str]], names: Mapping[str, str], title: str, text: str) -> SideTable:
    body = tuple((row["model"], *(row[name] or "–" for name in names)) for row in rows)
    return SideTable(title, text, ("model", *names.values()), body)
