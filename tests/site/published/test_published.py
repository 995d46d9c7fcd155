"""The published figures that the repository carries."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from support.case_files import rows
from support.site import PUBLISHED, published_boards
from triathlon_runner.errors import UserError
from triathlon_runner.loop import asl_of_counts
from triathlon_site.models import ModelInfo, Record
from triathlon_site.pages.published import analyses, remarks
from triathlon_site.published import (
    Published,
    PublishedRow,
    PublishedTable,
    join_models,
    published_tables,
    read_published,
    sustained,
)
from triathlon_site.ranking import shift_summary, shifts
from triathlon_site.render import Section
from triathlon_site.uncertainty import share_interval

HERE = Path(__file__).parent


def rows_of(table: PublishedTable) -> dict[str, PublishedRow]:
    return {row.name: row for row in table.rows}


def sections_of(table: PublishedTable) -> list[Section]:
    """Its analyses, of models under the names that it gives them."""
    return list(analyses(table, {row.name: ModelInfo(row.name, row.name) for row in table.rows}))


def test_every_source_is_whole(published: Published, tables: dict[str, PublishedTable]) -> None:
    """Rows of each file and of the paper's own table; columns of EvoEval's tables 2 and 3."""
    expected = {"evaloop": 107, "evoeval": 57, "reval": 17, "evalplus": 125, "qwen_coder": 6}
    expected |= {"evaloop_prompts": 13, "evaloop_temperatures": 13, "evaloop_attacks": 13}
    expected |= {"evaloop_translation": 4, "evoeval_combine": 16, "evoeval_decompose": 8}
    assert {table: len(published.tables[table]) for table in expected} == expected
    for table, count in expected.items():
        papers = sum(row.get("in_paper", "1") == "1" for row in published.tables[table])
        assert papers == {"evaloop": 96, "evoeval": 51}.get(table, count), table
    for table, count in (("evoeval_combine", 8), ("evoeval_decompose", 10)):
        assert len(tables[table].columns) == count


def test_the_rank_changes_of_the_paper(tables: dict[str, PublishedTable]) -> None:
    """EVALOOOP, table 2, with ties in pass@1 broken by ASL; section 4.2 by its rule and with shared ranks."""
    table = tables["evaloop"]
    assert table.headline and table.baseline
    scores, baseline = (table.scores(column, in_paper=True) for column in (table.headline, table.baseline))
    records = [row.record for row in table.rows if row.record["in_paper"] == "1"]
    printed = {record["model"]: int(record["rank_change"]) for record in records}
    assert len(printed) == 96 and shifts(scores, baseline, break_ties=True) == printed
    for break_ties, expected in ((True, (88, 6.9, 27.1, -29, 12)), (False, (90, 7.1, 28.1, -31, 12))):
        found = shift_summary(scores, baseline, break_ties=break_ties)
        assert found and found.models == 96
        shown = (found.moved, round(found.mean, 1), round(100 * found.far, 1), found.lowest, found.highest)
        assert shown == expected and round(found.reversed_pairs, 2) == 0.10


VARIANTS = {
    "evaloop_prompts": ({"baseline": 2, "prompt_1": 4, "prompt_3": 2}, 2.4, "0.951, over 13 models"),
    "evaloop_temperatures": ({"baseline": 2, "t_0.2": 3, "t_0.8": 3}, 2.5, "0.974, over 13 models"),
}
"""EVALOOOP, tables 3 and 4: ranks and mean rank of o3-mini, and Spearman of the ranks with the mean ranks."""


def test_variants_have_ranks_in_each_column(tables: dict[str, PublishedTable]) -> None:
    """Those of attacks, table 1, have no mean rank."""
    for table, (ranks, mean_rank, sentence) in VARIANTS.items():
        found = tables[table]
        names, scores = list(rows_of(found)), rows_of(found)["o3-mini"].scores
        assert {name: rank.rank for name in ranks if (rank := scores[name].rank)} == ranks
        (cells,) = found.derived.values()
        assert cells[names.index("o3-mini")].number == pytest.approx(mean_rank)
        assert all(re.fullmatch(r"\d+\.\d", cell.text) for cell in cells)
        assert sentence in " ".join(remarks(found))
    assert "over 13 models" in " ".join(remarks(tables["evaloop_attacks"]))


def test_a_mean_and_a_run_by_other_rules_are_shown_and_not_ranked(
    published: Published, tables: dict[str, PublishedTable]
) -> None:
    """REval, table III in its order: fifteen models have ranks; the mean and a chain of thought have none."""
    table = tables["reval"]
    ranks = [rank.rank for row in table.rows if (rank := row.scores["ic"].rank)]
    assert sorted(ranks) == list(range(1, 16)) and len(table.rows) == 17
    assert not any("CoT" in model.name for model in join_models(published, published_boards(published)))
    average = rows_of(table)["Average"]
    for column in table.columns:
        if column.ranked:
            own = [row.scores[column.id].value for row in table.models]
            assert sum(own) / len(own) == pytest.approx(average.value(column.id), abs=0.051), column.id
    assert (average.value("average"), average.value("ic")) == (44.4, 10.3)


def test_published_numbers_fit_each_other(published: Published, tables: dict[str, PublishedTable]) -> None:
    """Counts give Claude Opus 4's ASL (7.786) and each drop; EvoEval's average is the mean of six columns."""
    loop = rows_of(tables["evaloop"])
    assert asl_of_counts(sustained(loop["Claude Opus 4"].record), 10) == pytest.approx(7.7865, abs=5e-5)
    for row in loop.values():
        assert sum(sustained(row.record)) in {0, 378}
        if row.curve:
            assert row.value("drop") == pytest.approx(row.curve[0] - row.curve[-1], abs=0.0051)
    values = sorted(v for row in loop.values() if (v := row.value("drop")) is not None)
    assert (len(values), values[:2], values[-1]) == (97, [2.38, 2.65], 37.04)
    names = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use")
    for record in published.tables["evoeval"]:
        mean = sum(float(record[name]) for name in names) / 6
        assert math.isclose(mean, float(record["evoeval"]), abs_tol=0.1), record


def test_no_digit_that_was_published_is_rounded_away(tables: dict[str, PublishedTable]) -> None:
    """EvoEval's board has 28.05 (46 of 164) where its paper has one decimal: rounded again it would be 28.1.
    Every cell of every table is the published number.
    """
    assert {row.name: row.scores["humaneval"].text for row in tables["evoeval"].rows}["mistral-7b"] == "28.05"
    for table in tables.values():
        for row in table.rows:
            for column in (column for column in table.columns if column.id in row.scores):
                value = float(row.record[column.id]) * (100 if column.maximum == 1 else 1)
                assert float(table.text(row, column)) == pytest.approx(value, abs=1e-9), (row.name, column.id)


def test_ranks_are_those_of_the_paper(tables: dict[str, PublishedTable]) -> None:
    """EvoEval, table 1: ranks of unrounded scores, which rounded ones would tie or part."""
    evoeval = {"XwinCoder 34b": 19, "WizardCoder-1.1 33b": 11, "Claude-3.5": 1, "CodeLlama-Inst 13b": 32}
    evoeval |= {"DS Coder-Inst 1.3b": 30, "DS Coder-v2-Inst 236b": 5}
    humaneval = {"GPT-4o": 1, "GPT-4-Turbo": 2, "Claude-3.5": 2, "Gemma-Inst 7b": 54}
    rows = rows_of(tables["evoeval"])
    for column, expected in (("evoeval", evoeval), ("humaneval", humaneval)):
        ranks = {model: rank for model in expected if (rank := rows[model].scores[column].rank)}
        assert {model: rank.rank for model, rank in ranks.items()} == expected
        tied = {model for model, rank in ranks.items() if rank.tied}
        assert tied == ({"GPT-4-Turbo", "Claude-3.5", "Gemma-Inst 7b"} if column == "humaneval" else set())


def test_drops_and_changes_are_those_of_the_paper(tables: dict[str, PublishedTable]) -> None:
    """EvoEval, section 4.1, but for 19.6 where we have 18.9, and +0.5 on verbose, which our note tells."""
    sections = {section.title: section for section in sections_of(tables["evoeval"])}
    mean, span = sections["Drops"].rows[:2]
    assert [cell.text for cell in mean[1:7]] == ["56.6", "48.2", "5.0", "74.7", "6.1", "38.1"]
    assert span[-1].text == "18.9 to 47.7" and len(sections["Drops"].rows) == 2 + 57
    (other_words,) = (section for title, section in sections.items() if title.startswith("What other words"))
    changes = {row[0].text.removesuffix(" models"): [row[1].text, row[2].text] for row in other_words.rows}
    expected = {models: row for models, *row in map(dict.values, rows(HERE / "evoeval_changes.csv"))}
    assert changes | expected == changes
    assert "+0.5 % on verbose" in tables["evoeval"].source.note


def test_a_table_is_a_file_and_a_row(tmp_path: Path, published: Published) -> None:
    """What its row lists is shown, a headline has its largest as maximum; names join without an alias."""
    (tmp_path / "published").mkdir()
    folder = _broken(tmp_path / "published", "sources.csv", "table,", "table,")
    _add(
        folder,
        "resolved|Resolved|||headline; cost",
        "model,resolved,cost\nGPT-4o,21.6,\nGPT-5,65,\nNobody,3,2\n",
    )
    found = read_published(folder)
    boards = published_boards(found)
    table = next(board for board in boards if board.id == "outside")
    assert table.headline and (table.headline.id, table.headline.maximum) == ("resolved", 65)
    ranks = {row.name: rank.rank for row in table.rows if (rank := row.scores["resolved"].rank)}
    assert ranks == {"GPT-4o": 2, "GPT-5": 1, "Nobody": 3}
    joined = {model.name: set(model.rows) for model in join_models(found, boards) if "outside" in model.rows}
    assert joined["GPT-5"] == {"evaloop", "outside"} and joined["Nobody"] == {"outside"}
    with (folder / "outside.csv").open("a") as file:
        file.write("GPT-5,66,\n")
    with pytest.raises(UserError, match=r"outside\.csv: expected 'GPT-5' in one row"):
        read_published(folder)


@pytest.mark.parametrize(
    "columns",
    [
        *("", "nothing|x", "asl|ASL|ten", "asl|ASL|0", "asl|ASL|10||first", "a|b|1|2||f"),
        *("asl|ASL|10|0", f"asl|ASL|10|{'9' * 400}", "asl|ASL|10; asl|Again|10"),
        "asl||||headline; pass_at_1||||headline",
        *("asl||10|p+q", "asl||10|asl+asl", "asl||10|p", "asl|||100"),
    ],
)
def test_a_list_of_columns_that_does_not_fit_is_refused(published: Published, columns: str) -> None:
    """The table, what was expected and what stands there are named."""
    sources = published.sources | {"evaloop": replace(published.sources["evaloop"], columns=columns)}
    with pytest.raises(UserError, match=r"sources\.csv, row 'evaloop', cell 'columns': expected .*, got '"):
        published_tables(replace(published, sources=sources))


def test_no_model_is_joined_twice(published: Published) -> None:
    """Every row of every ranking is in one model; what the list of doubts names stays apart."""
    boards = published_boards(published)
    joined = join_models(published, boards)
    together = [{(source, row.name) for source, row in model.rows.items()} for model in joined]
    seen = [name for names in together for name in names]
    assert len(seen) == len(set(seen)) == sum(len(board.models) for board in boards)
    for doubt in published.doubtful:
        pair = {(doubt["source"], doubt["name"]), (doubt["other_source"], doubt["other_name"])}
        assert not any(pair <= names for names in together), doubt


def test_one_model_is_one_snapshot(published: Published) -> None:
    """An outside name joins the product, no dated snapshot. Joined names in two snapshots are refused."""
    boards = published_boards(published)
    row = replace(boards[0].models[0], name="GPT-4o")
    outside = replace(boards[0], id="outside", rows=(row,))
    (found,) = (one for one in join_models(published, [*boards, outside]) if "outside" in one.rows)
    assert found.snapshot is not None
    assert (found.snapshot.product, found.snapshot.month, len(found.rows)) == ("GPT-4o", "", 1)
    snapshots = published.products.values()
    names = {name for _, name in published.products}.union(*((s.product, s.model) for s in snapshots))
    outside = replace(outside, rows=tuple(replace(row, name=name) for name in names))
    joined = [one for one in join_models(published, [*boards, outside]) if "outside" in one.rows]
    assert {one.rows["outside"].name for one in joined} == names
    assert any(one.name == "GPT-4" and {"evoeval", "outside"} <= one.rows.keys() for one in joined)
    place = "cruxeval", "gpt-4-turbo-2024-04-09"
    other = {place: replace(published.products[place], month="2024-05")}
    broken = replace(published, products={**published.products, **other})
    with pytest.raises(UserError, match=r"expected all names of .* to be one snapshot of 'GPT-4-Turbo'"):
        join_models(broken, published_boards(broken))


def _broken(tmp_path: Path, name: str, old: str, new: str) -> Path:
    for path in PUBLISHED.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (tmp_path / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    return tmp_path


def test_a_broken_table_is_refused_by_file_and_line(tmp_path: Path) -> None:
    """A cell too many would move numbers under other headings, a doubled name would hide a model."""
    for name, old, new, said in map(dict.values, rows(HERE / "broken_tables.csv")):
        with pytest.raises(UserError, match=said):
            read_published(_broken(tmp_path, name, old, new))


def test_encodings(tmp_path: Path, published: Published) -> None:
    """A byte order mark is passed over; a table in another encoding is refused by its name."""
    folder = _broken(tmp_path, "evalplus.csv", "model", "\ufeffmodel")
    found = read_published(folder)
    assert found.tables == published.tables
    (folder / "evalplus.csv").write_bytes((folder / "evalplus.csv").read_text().encode("utf-16"))
    with pytest.raises(UserError, match=r"evalplus\.csv.*UTF-8"):
        read_published(folder)


def _add(folder: Path, columns: str, text: str) -> Path:
    """With one more table."""
    (folder / "outside.csv").write_text(text)
    with (folder / "sources.csv").open("a") as file:
        file.write(f"outside,Outside,A board,public board,2025,per cent,,{columns}\n")
    return folder


@pytest.mark.parametrize("case", rows(HERE / "damaged_cells.csv"), ids=str)
def test_a_damaged_table_is_named(tmp_path: Path, case: dict[str, str]) -> None:
    """With the model, the cell and what was expected; only zeros are a table, too."""
    columns, head, cell, wrong = case.values()
    names = ["score", *("score_std", "n"), *(f"sustained_{loops}" for loops in range(11))]
    models = [{**dict.fromkeys(names, "0"), head: cell, "model": model} for model in ("a", "b")]
    text = "\n".join(",".join(row[name] for name in ("model", *names)) for row in models)
    found = read_published(
        _add(_broken(tmp_path, "reval.csv", "", ""), columns, f"model,{','.join(names)}\n{text}\n")
    )
    if wrong:
        with pytest.raises(UserError, match=rf"outside\.csv: .* 'a': expected {wrong}; correct"):
            published_tables(found)
    else:
        table = published_tables(found)[-1]
        assert [rank.rank for row in table.rows if (rank := row.scores["score"].rank)] == [1, 1]
        assert not any(row.curve for row in table.rows)


@pytest.mark.parametrize("cell", ["n/a", "nan", "1e999", "8840", "-1"])
def test_a_cell_that_is_no_number_is_named(tmp_path: Path, cell: str) -> None:
    """Model and column are said, as a row's line moves with every edit."""
    found = read_published(_broken(tmp_path, "reval.csv", "88.4", cell))
    assert found is not None
    with pytest.raises(UserError, match=rf"'GPT-4-Turbo'.*coverage_accuracy.*'{cell}'"):
        published_boards(found)
    if cell != "8840":  # which may be the maximum
        source = replace(found.sources["reval"], columns="coverage_accuracy||||headline")
        with pytest.raises(UserError, match=rf"'GPT-4-Turbo'.*coverage_accuracy.*'{cell}'"):
            published_boards(replace(found, sources=found.sources | {"reval": source}))


def test_equal_figures_have_equal_intervals(published: Published, tables: dict[str, PublishedTable]) -> None:
    """Whatever the models are called; over known tasks that of a share; of one that sustains nothing, too."""
    spans = {
        (column.maximum, int(column.tasks), score.value): score.interval
        for table in tables.values()
        for column in table.columns
        if column.tasks.isdecimal()
        for row in table.rows
        if (score := row.scores.get(column.id))
    }
    assert len(spans) > 500
    for (maximum, tasks, value), span in spans.items():
        of_share = share_interval(value / maximum * tasks, tasks)
        assert (span.low, span.high) == pytest.approx((maximum * of_share.low, maximum * of_share.high))
    (row,) = sustained_row({"asl": "1", "sustained_0": "340", "sustained_10": "38"})
    rows = row, {**row, "model": "another name"}, *sustained_row({"model": "none"})
    found = replace(published, tables=published.tables | {"evaloop": rows})
    board = next(one for one in published_boards(found) if one.id == "evaloop")
    one, other, none = (row.scores["asl"].interval for row in board.rows)
    assert one == other and one.known
    assert board.rows[2].value("asl") == 0 and 0 <= none.high < 1


def sustained_row(cells: Mapping[str, str]) -> tuple[Record, ...]:
    """A row of EVALOOOP's table of a model that sustains nothing, with these cells."""
    counts = {f"sustained_{loops}": "0" for loops in range(11)} | {"sustained_0": "378"}
    others = {"rank_change": "", "drop": ""}
    return ({"model": "m", "asl": "0", "pass_at_1": "0", **others, **counts, **cells},)


def test_counts_that_cannot_be_are_refused(published: Published) -> None:
    """The message names model, column and cell."""
    for column, cell, said in (
        ("asl", "3.1", "expected asl 0, since no task sustains a loop, got '3.1'"),
        ("sustained_0", "377.5", "expected a whole number in sustained_0, got '377.5'"),
        ("sustained_0", "x", "expected a whole number in sustained_0, got 'x'"),
    ):
        found = replace(published, tables=published.tables | {"evaloop": sustained_row({column: cell})})
        with pytest.raises(UserError, match=f"'m': {re.escape(said)}"):
            published_boards(found)


@pytest.mark.parametrize("table", ["evaloop", "evoeval", "reval", "evoeval_combine", "evaloop_prompts"])
@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_without_figures_leaves_the_others(published: Published, table: str, rows: int) -> None:
    """No rows, or a row without a figure: all tables and analyses are made without it."""
    empty = dict.fromkeys(published.tables[table][0], "") | {"model": "m"}
    found = replace(published, tables=published.tables | {table: (empty,) * rows})
    tables = published_tables(found)
    assert len(tables) == len(published.sources)
    assert len(published_boards(found)) == len(published_boards(published))
    for each in tables:
        assert all(section.title for section in sections_of(each)) and all(remarks(each))
        assert each.derived is not None
