"""The smaller tables beside the published rankings."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from triathlon_runner.evolved import analysis
from triathlon_runner.loop import sensitivity
from triathlon_site.published import Published, PublishedBoard, is_model
from triathlon_site.render import Section, Value, formats

Rows = Sequence[Mapping[str, str]]
PROMPTS: Final = {
    "prompt_1": "detailed",
    "prompt_2": "upper case",
    "prompt_3": "structured",
    "prompt_4": "simplified",
    "prompt_5": "redundant",
}
TEMPERATURES: Final = {"t_0.2": "0.2", "t_0.4": "0.4", "t_0.6": "0.6", "t_0.8": "0.8"}
ATTACKS: Final = {"upper": "upper case", "structured": "structured", "redundant": "redundant"}


def side_tables(published: Published, board: PublishedBoard) -> Iterator[Section]:
    """The smaller tables of one ranking; none for some."""
    tables = published.tables
    if board.id == "evaloop":
        yield _variants(tables["evaloop_prompts"], PROMPTS, "Other summary prompts", "summary prompts")
        yield _variants(tables["evaloop_temperatures"], TEMPERATURES, "Other temperatures", "temperatures")
        yield _plain(
            tables["evaloop_attacks"],
            {"original": "as asked", **ATTACKS},
            "Attacks on the first prompt",
            "pass@1, in per cent, with the prompt as it is, in upper case, in labelled structure, or told"
            " redundantly.",
            times=100,
        )
        yield _plain(
            tables["evaloop_translation"],
            {"asl": "ASL"},
            "Translation loop",
            "ASL over five languages, of at most 5.",
        )
    if board.id == "reval":
        yield _plain(
            [row for row in tables["reval"] if not is_model(row)],
            {column.field or column.id: column.title for column in board.columns},
            "Beside the ranking",
            f"The mean of the {len(board.rows)} models, and the one model that was also asked with a chain of"
            " thought: compare that run with the model’s own row.",
        )
    if board.id == "evoeval":
        yield _drops(board)
        yield _retold(board)
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
    if board.id == "livecodebench":
        yield _receipts(tables["livecodebench"])


def _section(title: str, text: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Section:
    return Section(title, text, tuple(head), tuple(tuple(map(Value, row)) for row in rows))


def _receipts(rows: Rows) -> Section:
    """The file that each figure was counted from."""
    fields = ("model", "questions", "samples", "contests", "file", "sha256", "address")
    contests = [
        f"{row['first_contest']} to {row['last_contest']}" if row["first_contest"] else formats.NONE
        for row in rows
    ]
    body = [
        [{**row, "contests": text}[field] for field in fields]
        for row, text in zip(rows, contests, strict=True)
    ]
    text = (
        "Every row is the pass@1 of one file, by that file's own verdicts: nothing was graded here. Compare"
        " rows of the same questions only."
    )
    head = ("Model", "questions", "samples", "contests", "file", "SHA-256", "address")
    return _section("Receipts", text, head, body)


def _variants(rows: Rows, names: Mapping[str, str], title: str, noun: str) -> Section:
    base = {row["model"]: float(row["baseline"]) for row in rows}
    variants = {name: {row["model"]: float(row[name]) for row in rows} for name in names}
    comparison = sensitivity(base, variants)
    text = (
        f"ASL of {comparison.models} models under {len(names)} {noun}. Spearman between the ranks as asked"
        f" and the mean ranks under the settings: {comparison.spearman:.3f}."
    )
    return _plain(rows, {"baseline": "as asked", **names}, title, text)


def _drops(board: PublishedBoard) -> Section:
    drops = analysis.drops(rows_of(board))
    rows = [(formats.words(name), f"{drop:.1f}") for name, drop in drops.per_set.items()]
    text = (
        f"Relative decrease of pass@1 from HumanEval to each set, mean over {drops.models} models;"
        f" {drops.overall:.1f} % over the five sets."
    )
    return _section("Drop from HumanEval", text, ("Set", "drop, %"), rows)


def _retold(board: PublishedBoard) -> Section:
    """How other words change pass@1, by kind of model."""
    rows = rows_of(board)
    kinds = {model: analysis.kind_of(model) for model in rows}
    body = [
        (f"{name}, {kind} models", formats.change(change.change), str(change.models))
        for name in ("verbose", "concise", "subtle")
        for kind, change in analysis.change_by_kind(rows, kinds, name).items()
    ]
    text = (
        "Mean relative change of pass@1 from HumanEval, for models that follow instructions and base models."
    )
    return _section("The same problems in other words", text, ("Set", "change, %", "models"), body)


def rows_of(board: PublishedBoard) -> dict[str, dict[str, float]]:
    """pass@1 in per cent by model and set."""
    return {row.name: {name: score.value for name, score in row.scores.items()} for row in board.rows}


def _plain(rows: Rows, names: Mapping[str, str], title: str, text: str, times: int = 1) -> Section:
    """Numbers as published, multiplied by `times`; all numbers of a column have the same decimals."""
    columns = [_aligned([row[name] for row in rows], times) for name in names]
    body = list(zip((row["model"] for row in rows), *columns, strict=True))
    return _section(title, text, ("Model", *names.values()), body)


def _aligned(values: Sequence[str], times: int) -> list[str]:
    scaled = [str(Decimal(value) * times).removesuffix(".") if value else "" for value in values]
    digits = max((len(value.partition(".")[2]) for value in scaled), default=0)
    return [f"{Decimal(value):.{digits}f}" if value else formats.NONE for value in scaled]
