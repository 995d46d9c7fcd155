"""The published figures that the repository carries."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from triathlon_runner.errors import UserError
from triathlon_runner.loop import asl_of_counts
from triathlon_site.csv_file import Record
from triathlon_site.pages.published import side_tables
from triathlon_site.published import (
    Published,
    join_models,
    published_boards,
    read_published,
    sustained,
)

FOLDER = Path(__file__).parents[3] / "results" / "published"


@pytest.fixture(scope="module")
def published() -> Published:
    found = read_published(FOLDER)
    assert found is not None
    return found


def test_every_source_is_whole(published: Published) -> None:
    """EVALOOOP: 101 models, 91 with counts; REval: 17 rows; EvoEval: 51 of the paper; EvalPlus: 125."""
    tables = published.tables
    assert len(tables["evaloop"]) == 101
    assert sum(bool(sustained(row)) for row in tables["evaloop"]) == 91
    assert sum(row["in_paper"] == "1" for row in tables["evaloop"]) == 96
    assert sum(row["in_paper"] == "1" for row in tables["evoeval"]) == 51
    assert len(tables["reval"]) == 17
    assert len(tables["evalplus"]) == 125
    counts = {"evaloop_prompts": 13, "evaloop_temperatures": 13, "evaloop_attacks": 13}
    counts |= {"evaloop_translation": 4, "evoeval_combine": 16, "evoeval_decompose": 8}
    assert {name: len(tables[name]) for name in counts} == counts


def test_a_mean_and_a_run_by_other_rules_are_shown_and_not_ranked(published: Published) -> None:
    """REval, table III: fifteen models have ranks; their mean is the paper's, the chain of thought apart."""
    board = next(board for board in published_boards(published) if board.id == "reval")
    assert sorted(row.scores["ic"].rank.rank for row in board.rows) == list(range(1, 16))
    assert not any("CoT" in model.name for model in join_models(published, published_boards(published)))
    average = next(row for row in published.tables["reval"] if row["kind"] == "average")
    for column in board.columns:
        own = [row.scores[column.id].value for row in board.rows]
        assert sum(own) / len(own) == pytest.approx(column.value(average), abs=0.051), column.id
    beside = next(table for table in side_tables(published, board))
    assert [row[0].text for row in beside.rows] == ["Average", "CodeLlama-7B-Instruct (CoT)"]


def test_counts_give_the_published_asl(published: Published) -> None:
    """With s = 1, Claude Opus 4's counts give 7.7865 (published 7.786); 378 tasks each."""
    rows = {row["model"]: row for row in published.tables["evaloop"]}
    assert asl_of_counts(sustained(rows["Claude Opus 4"]), 10) == pytest.approx(7.7865, abs=5e-5)
    assert all(sum(sustained(row)) in {0, 378} for row in rows.values())


def test_evoeval_average_is_the_mean_of_six_columns(published: Published) -> None:
    """All rows of the paper, to 0.1 (EvoEval, table 1)."""
    names = ("humaneval", "difficult", "creative", "subtle", "combine", "tool_use")
    for row in published.tables["evoeval"]:
        assert math.isclose(sum(float(row[n]) for n in names) / 6, float(row["evoeval"]), abs_tol=0.1), row


def test_every_rank_is_that_of_the_paper(published: Published) -> None:
    """EvoEval, table 1, three rows that the rounded means would tie or misplace: 18, 19 and 32."""
    board = next(board for board in published_boards(published) if board.id == "evoeval")
    placed = {row.name: row.scores["evoeval"].rank for row in board.rows}
    names = ("XwinCoder 34b", "WizardCoder-1.1 33b", "CodeLlama-Inst 13b", "DS Coder-Inst 1.3b")
    assert [(placed[name].rank, placed[name].tied) for name in names] == [
        (19, False),
        (11, False),
        (32, False),
        (30, False),
    ]


def test_ranks_are_those_of_the_paper(published: Published) -> None:
    """EvoEval, table 1: Claude-3.5 first, DS Coder-v2-Inst fifth; a shared second place on HumanEval."""
    board = next(board for board in published_boards(published) if board.id == "evoeval")
    rows = {row.name: row.scores for row in board.rows}
    assert rows["Claude-3.5"]["evoeval"].rank.rank == 1
    assert rows["DS Coder-v2-Inst 236b"]["evoeval"].rank.rank == 5
    humaneval = [rows[name]["humaneval"].rank for name in ("GPT-4o", "GPT-4-Turbo", "Claude-3.5")]
    assert [(rank.rank, rank.tied) for rank in humaneval] == [(1, False), (2, True), (2, True)]


def test_sensitivity_is_that_of_the_paper(published: Published) -> None:
    """Spearman 0.951 for summary prompts, 0.974 for temperatures (EVALOOOP, tables 3 and 4)."""
    board = published_boards(published)[0]
    texts = [table.text for table in side_tables(published, board)]
    assert any("0.951" in text for text in texts) and any("0.974" in text for text in texts)


def test_drops_are_those_of_the_paper(published: Published) -> None:
    """Difficult 56.6, creative 48.2, subtle 5.0, combine 74.7, tool use 6.1 per cent (EvoEval, section 4)."""
    board = next(board for board in published_boards(published) if board.id == "evoeval")
    drops = next(table for table in side_tables(published, board) if table.title.startswith("Drop"))
    assert [float(row[1].text) for row in drops.rows] == pytest.approx([56.6, 48.2, 5.0, 74.7, 6.1], abs=0.15)


def test_no_model_is_joined_twice(published: Published) -> None:
    """A name of a source stands for one model; every row of every ranking is somewhere."""
    boards = published_boards(published)
    joined = join_models(published, boards)
    seen = [(source, row.name) for model in joined for source, row in model.rows.items()]
    assert len(seen) == len(set(seen)) == sum(len(board.rows) for board in boards)


def test_a_doubtful_pair_is_not_joined(published: Published) -> None:
    """What the list of doubts names stays apart."""
    joined = join_models(published, published_boards(published))
    together = [{(source, row.name) for source, row in model.rows.items()} for model in joined]
    for doubt in published.doubtful:
        pair = {(doubt["source"], doubt["name"]), (doubt["other_source"], doubt["other_name"])}
        assert not any(pair <= names for names in together), doubt


def test_an_alias_of_an_unknown_name_is_refused(tmp_path: Path) -> None:
    """A typing error in the alias table would split a model in silence: the build says where it is."""
    for path in FOLDER.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "aliases.csv").open("a") as file:
        file.write("Nobody,nobody-7b,,,,\n")
    with pytest.raises(UserError, match=r"aliases\.csv: evaloop\.csv has no model 'nobody-7b'"):
        read_published(tmp_path)


@pytest.mark.parametrize(
    ("row", "name", "column"),
    [("Phi,,,,,phi-2", "phi-2", "cruxeval"), ("Phi-2,,,,,gpt-4-0613", "Phi-2", "model")],
)
def test_a_name_in_two_rows_of_aliases_is_refused(tmp_path: Path, row: str, name: str, column: str) -> None:
    """One model would stand twice, or its figures for two models: file, name and column are said."""
    for path in FOLDER.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "aliases.csv").open("a") as file:
        file.write(row + "\n")
    said = f"{tmp_path / 'aliases.csv'}: expected {name!r} in one row of the column {column!r}, got it in 2;"
    with pytest.raises(UserError, match=re.escape(said)):
        read_published(tmp_path)


def _broken(tmp_path: Path, name: str, old: str, new: str) -> Path:
    for path in FOLDER.glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (tmp_path / name).read_text()
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("reval.csv", "88.4,", "88.4,1,", r"reval\.csv, line 16: expected 15 cells, got 16"),
        ("reval.csv", ",42.5,", ",42.5", r"reval\.csv, line 16: expected 15 cells, got 14"),
        ("reval.csv", "GPT-4-Turbo", "GPT-3.5-Turbo", r"reval\.csv: expected 'GPT-3\.5-Turbo' in one row"),
        ("sources.csv", "evalplus,", "evalplusplus,", r"sources\.csv: no row for the table 'evalplus'"),
        ("evoeval.csv", "model,", "name,", r"evoeval\.csv: expected a column 'model'"),
        ("evoeval.csv", "difficult,creative", "difficult,difficult", r"got 'difficult' more than once"),
    ],
)
def test_a_broken_table_is_refused_by_file_and_line(
    tmp_path: Path, name: str, old: str, new: str, said: str
) -> None:
    """A cell too many would move numbers under other headings, a doubled name would hide a model."""
    with pytest.raises(UserError, match=said):
        read_published(_broken(tmp_path, name, old, new))


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    """A table saved in another encoding: the file is named, and no letter is guessed."""
    folder = _broken(tmp_path, "evalplus.csv", "Zephyr", "Zephyr")
    (folder / "evalplus.csv").write_bytes((folder / "evalplus.csv").read_text().encode("utf-16"))
    with pytest.raises(UserError, match=r"evalplus\.csv.*UTF-8"):
        read_published(folder)


@pytest.mark.parametrize("cell", ["n/a", "nan", "1e999", "8840", "-1"])
def test_a_cell_that_is_no_number_is_named(tmp_path: Path, cell: str) -> None:
    """Model and column are said, as a row's line moves with every edit."""
    found = read_published(_broken(tmp_path, "reval.csv", "88.4", cell))
    assert found is not None
    with pytest.raises(UserError, match=rf"'GPT-4-Turbo'.*coverage_accuracy.*'{cell}'"):
        published_boards(found)


def test_a_table_with_a_byte_order_mark_is_read(tmp_path: Path, published: Published) -> None:
    """Spreadsheets write one in front of the first heading."""
    folder = _broken(tmp_path, "evalplus.csv", "model", "\ufeffmodel")
    found = read_published(folder)
    assert found and found.tables == published.tables


def sustained_row(cells: Mapping[str, str]) -> tuple[Record, ...]:
    """A row of EVALOOOP's table of a model that sustains nothing, with these cells."""
    counts = {f"sustained_{loops}": "0" for loops in range(11)} | {"sustained_0": "378"}
    return ({"model": "m", "asl": "0", "pass_at_1": "0", **counts, **cells},)


def test_a_model_that_sustains_nothing_has_the_score_0(published: Published) -> None:
    """Its ASL is 0 whatever its counts are scaled by, with an interval above it."""
    tables = published.tables | {"evaloop": sustained_row({})}
    board = next(one for one in published_boards(replace(published, tables=tables)) if one.id == "evaloop")
    score = board.rows[0].scores["asl"]
    assert score.value == 0 and score.interval and 0 <= score.interval.high < 1


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"asl": "3.1"}, "expected asl 0, since no task sustains a loop, got '3.1'"),
        ({"sustained_0": "377.5"}, "expected a whole number in sustained_0, got '377.5'"),
        ({"sustained_0": "x"}, "expected a number in sustained_0, got 'x'"),
    ],
)
def test_counts_that_cannot_be_are_refused(published: Published, cells: Mapping[str, str], said: str) -> None:
    """The message names model, column and cell."""
    tables = published.tables | {"evaloop": sustained_row(cells)}
    with pytest.raises(UserError, match=f"'m': {re.escape(said)}"):
        published_boards(replace(published, tables=tables))


@pytest.mark.parametrize("table", ["evaloop", "evoeval", "reval", "evoeval_combine", "evaloop_prompts"])
@pytest.mark.parametrize("rows", [(), ({"model": "m"},)])
def test_a_table_without_figures_leaves_the_others(
    published: Published, table: str, rows: tuple[Record, ...]
) -> None:
    """No rows, or a row without a figure: the rankings and the smaller tables are made without it."""
    found = replace(published, tables=published.tables | {table: rows})
    boards = published_boards(found)
    assert len(boards) == 5
    assert all(section.title for board in boards for section in side_tables(found, board))
