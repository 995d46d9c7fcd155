"""The smaller tables beside the published rankings."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from math import isnan
from typing import Final

from triathlon_runner.loop import sensitivity
from triathlon_site import analysis
from triathlon_site.csv_file import Record
from triathlon_site.published import Published, PublishedBoard, is_model, number_in, whole_number
from triathlon_site.render import Section, Value, formats

Rows = Sequence[Record]
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
    if board.id == "evaloop":
        yield _variants(
            published.rows("evaloop_prompts"), PROMPTS, "Other summary prompts", "summary prompts"
        )
        yield _variants(
            published.rows("evaloop_temperatures"), TEMPERATURES, "Other temperatures", "temperatures"
        )
        yield _plain(
            published.rows("evaloop_attacks"),
            {"original": "as asked", **ATTACKS},
            "Attacks on the first prompt",
            "pass@1, in per cent, with the prompt as it is, in upper case, in labelled structure, or told"
            " redundantly.",
            times=100,
        )
        yield _plain(
            published.rows("evaloop_translation"),
            {"asl": "ASL"},
            "Translation loop",
            "ASL over five languages, of at most 5.",
        )
    if board.id == "reval":
        yield _plain(
            [row for row in published.rows("reval") if not is_model(row)],
            {column.field or column.id: column.title for column in board.columns},
            "Beside the ranking",
            f"The mean of the {len(board.rows)} models, and the one model that was also asked with a chain of"
            " thought: compare that run with the model’s own row.",
        )
    if board.id == "evoeval":
        yield from _drops(board)
        yield _retold(board)
        for dataset, title in (("combine", "Composition"), ("combine_naive", "Composition, naive pairs")):
            yield _plain(
                [row for row in published.rows("evoeval_combine") if row.get("dataset") == dataset],
                {
                    "humaneval_pass_both": "both parents solved",
                    "solved_pass_both": "of these, combined solved",
                    "composition": "composition, %",
                },
                title,
                "Of the combined problems whose two parents a model solves, how many it solves.",
            )
        yield _plain(
            published.rows("evoeval_decompose"),
            {
                "humaneval_pass": "seeds solved",
                "pass_both": "of seeds solved, both halves",
                "decomposition": "decomposition, %",
                "humaneval_fail": "seeds failed",
                "fail_both": "of seeds failed, both halves",
                "recomposition": "recomposition, %",
            },
            "Decomposition",
            "Seeds cut into halves: a model that solves a whole should solve its halves.",
        )
    if board.id == "livecodebench":
        yield _receipts(published.rows("livecodebench"))


def _receipts(rows: Rows) -> Section:
    """The file that each figure was counted from."""
    contests = [
        f"{row['first_contest']} to {row.get('last_contest', '')}"
        if row.get("first_contest")
        else formats.NONE
        for row in rows
    ]
    body = [
        (
            Value(row["model"]),
            *(Value(row[field], number=whole_number(row, field)) for field in ("questions", "samples")),
            Value(text),
            *(Value(row.get(field, "")) for field in ("file", "sha256", "address")),
        )
        for row, text in zip(rows, contests, strict=True)
    ]
    text = (
        "Every row is the pass@1 of one file, by that file's own verdicts: nothing was graded here. Compare"
        " rows of the same questions only."
    )
    head = ("Model", "questions", "samples", "contests", "file", "SHA-256", "address")
    return Section("Receipts", text, head, tuple(body))


def _variants(rows: Rows, names: Mapping[str, str], title: str, noun: str) -> Section:
    whole = [row for row in rows if not any(isnan(number_in(row, name)) for name in ("baseline", *names))]
    base = {row["model"]: number_in(row, "baseline") for row in whole}
    variants = {name: {row["model"]: number_in(row, name) for row in whole} for name in names}
    comparison = sensitivity(base, variants)
    text = (
        f"ASL of {comparison.models} models under {len(names)} {noun}. Spearman between the ranks as asked"
        f" and the mean ranks under the settings: {comparison.spearman:.3f}."
    )
    return _plain(rows, {"baseline": "as asked", **names}, title, text)


def _drops(board: PublishedBoard) -> Iterator[Section]:
    """Nothing where no model has a score on each of the sets."""
    try:
        drops = analysis.drops(rows_of(board))
    except ValueError:
        return
    rows = [
        (Value(formats.words(name)), Value(f"{drop:.1f}", number=drop))
        for name, drop in drops.per_set.items()
    ]
    text = (
        f"Relative decrease of pass@1 from HumanEval to each set, mean over {drops.models} models;"
        f" {drops.overall:.1f} % over the five sets."
    )
    yield Section("Drop from HumanEval", text, ("Set", "drop, %"), tuple(rows))


def _retold(board: PublishedBoard) -> Section:
    """How other words change pass@1, by kind of model."""
    rows = rows_of(board)
    kinds = {model: analysis.kind_of(model) for model in rows}
    body = [
        (
            Value(f"{name}, {kind} models"),
            Value(formats.change(change.change), number=change.change),
            Value(str(change.models), number=change.models),
        )
        for name in ("verbose", "concise", "subtle")
        for kind, change in analysis.change_by_kind(rows, kinds, name).items()
    ]
    text = (
        "Mean relative change of pass@1 from HumanEval, for models that follow instructions and base models."
    )
    return Section("The same problems in other words", text, ("Set", "change, %", "models"), tuple(body))


def rows_of(board: PublishedBoard) -> dict[str, dict[str, float]]:
    """pass@1 in per cent by model and set."""
    return {row.name: {name: score.value for name, score in row.scores.items()} for row in board.rows}


def _plain(rows: Rows, names: Mapping[str, str], title: str, text: str, times: int = 1) -> Section:
    """Numbers as published, multiplied by `times`; all numbers of a column have the same decimals."""
    columns = [_aligned(rows, name, times) for name in names]
    body = zip((Value(row["model"]) for row in rows), *columns, strict=True)
    return Section(title, text, ("Model", *names.values()), tuple(body))


def _aligned(rows: Rows, field: str, times: int) -> list[Value]:
    numbers = [None if isnan(number_in(row, field)) else Decimal(row[field]) * times for row in rows]
    digits = max((_decimals(number) for number in numbers if number is not None), default=0)
    return [
        Value(formats.NONE) if number is None else Value(f"{number:.{digits}f}", number=_plain_number(number))
        for number in numbers
    ]


def _decimals(number: Decimal) -> int:
    return len(str(number).partition(".")[2])


def _plain_number(number: Decimal) -> float:
    """Whole where it was published without decimals."""
    return float(number) if _decimals(number) else int(number)
