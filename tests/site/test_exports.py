"""What the site writes for others: data files, CSV and LaTeX tables, badges, our own problems."""

import csv
import html
import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from triathlon_runner.datasets import core
from triathlon_site.exports import DATA_SCHEMA, FIELDS, core_file, csv_file, latex_table, table_files
from triathlon_site.figures import badge
from triathlon_site.ranking import FEWEST_RANKED
from triathlon_site.render import Section, Value


def test_our_own_problems_are_there() -> None:
    """A line a problem of every set with its canary; no reference and no input is handed out."""
    rows = [json.loads(line) for line in core_file().content.splitlines()]
    problems = [problem for name in core.SETS for problem in core.problems(name)]
    found = [(row["task_id"], row["prompt"], row["inputs"], row["canary"]) for row in rows]
    assert found == [(one.task_id, one.prompt, len(one.inputs), core.CANARY) for one in problems]
    assert not {"reference", "test"} & {name for row in rows for name in row}


HOSTILE = r"\input{/etc/passwd} 100% & <b>_^~#$"


def test_latex_tables() -> None:
    """Text left, numbers right, every sign that LaTeX reads escaped; a line break ends no comment or row."""
    text = latex_table("a\n\\input{x}", ("Rank", "Model", "ASL", "ASL"), [("1", "a\nb", "7.5 (7.0–8.0)", "")])
    title, begin, *body = text.splitlines()
    assert (title, begin) == (r"% a \input{x}; \usepackage{booktabs}", r"\begin{tabular}{rlrr}")
    assert body[1::2] == [r"Rank & Model & ASL & ASL \\", r"1 & a b & 7.5 (7.0--8.0) &  \\", r"\end{tabular}"]
    assert r"Zephyr $\beta$" in latex_table("t", ("Model",), [("Zephyr β",)])  # pdflatex knows no β
    text = latex_table("t", ("Model", HOSTILE), [(HOSTILE, "")])
    escaped = r"\textbackslash{}input\{/etc/passwd\} 100\% \& \textless{}b\textgreater{}\_"
    assert text.count(escaped) == 2 and r"\input" not in text


def test_a_badge_is_a_picture_of_its_own() -> None:
    """Well-formed XML with a title, whatever the words."""
    picture = ET.fromstring(str(badge("Triathlon", "<script>", "#000000")))
    assert picture.findtext("{http://www.w3.org/2000/svg}title") == "Triathlon: <script>"


TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "integer": (int,)}
TYPES |= {"boolean": (bool,), "list of string": (list,), "null": (type(None),)}


def test_every_data_file_has_the_documented_fields(golden: Path) -> None:
    """Each row of each file has the fields that the Data page describes, of the types that it says."""
    kinds = {"overall-core": "overall", "notices": "notices"}
    for path in sorted((golden / "data").glob("*.json")):
        kind = kinds.get(path.stem, "board")
        types = {field["field"]: field["type"].split(" or ") for field in FIELDS[kind]}
        content: dict[str, Any] = json.loads(path.read_text())
        assert content["schema"] == DATA_SCHEMA
        rows = content["notices" if kind == "notices" else "rows"]
        assert rows, f"{path.name} says nothing that could be wrong"
        for row in rows:
            fields = {re.sub("^(loop|runtime|evolved)_", "<discipline>_", name): row[name] for name in row}
            assert fields.keys() == types.keys(), path.name
            for name, value in fields.items():
                assert type(value) in [each for one in types[name] for each in TYPES[one]], (path.name, name)


def test_the_parquet_file_has_every_row_with_its_types(golden: Path) -> None:
    """Row for row and number for number those of the boards; a whole number beside a gap stays one."""
    stored = pd.read_parquet(golden / "data/scores.parquet")
    boards = [pd.read_csv(path) for path in golden.glob("data/*.csv") if path.stem in set(stored["board"])]
    assert len(stored) == sum(map(len, boards))
    for board in boards:
        own = stored[stored["board"] == board["board"][0]].reset_index(drop=True)
        for name in ("column", "score", "low", "high", "tasks", "open_units"):
            assert own[name].tolist() == board[name].tolist(), name
    assert stored["rank"].dtype == "Int64" and stored["tied"].dtype == "boolean"


def test_the_data_page_describes_fields_commands_and_files(golden: Path) -> None:
    """Each field of each kind of data file with its type, each export, and links to the files."""
    page = html.unescape((golden / "data.html").read_text())
    for name in ("every-eval-ever", "hf-eval-results", "evalplus", "inspect"):
        assert f"<code>triathlon export {name} --out exported</code>" in page
    links = set(re.findall(r'href="(data/[^"]+)"', page))
    expected = ("loop-core.csv", "overall-core.json", "scores.parquet", "core/problems.jsonl")
    assert links >= {f"data/{name}" for name in expected}
    for field in (field for kind, fields in FIELDS.items() if kind != "all" for field in fields):
        assert f"<dt><code>{field['field']}</code> <small>{field['type']}</small></dt>" in page
        assert field["about"] in page
        assert field["field"] != "rank" or f"fewer than {FEWEST_RANKED}" in field["about"]


def table(head: tuple[str, ...], *rows: tuple[Value, ...]) -> list[dict[str, str]]:
    _, file = table_files("data/x.csv", Section("T", "", head, rows))
    return list(csv.DictReader(file.content.splitlines()))


def test_intervals_are_columns_of_numbers() -> None:
    """Of negative numbers, too; texts are never read as numbers. Two columns of one name are refused."""
    rows = table(
        ("Model", "drop", "without", "n"),
        (
            Value("1_000"),
            Value("−4.2", "−10.5 to +1.0", -4.25, {"low": -10.5, "high": 1}),
            Value("a to b", "", None, {"low": -0.5, "high": math.nan}),
            Value("4", number=4),
        ),
        (Value("nan"), Value("–", "none to count"), Value("–"), Value("–")),
    )
    assert rows == [
        {"Model": "1_000", "drop": "-4.25", "drop, low": "-10.5", "drop, high": "1"}
        | {"without, low": "-0.5", "without, high": "", "n": "4"},
        {"Model": "nan", "drop": "", "drop, low": "", "drop, high": ""}
        | {"without, low": "", "without, high": "", "n": ""},
    ]
    with pytest.raises(ValueError, match="expected columns of different names, got 'both' twice"):
        table(("Model", "both", "both"), (Value("m"), Value("1"), Value("2")))
    assert Section("", "", ("Model", "none yet"), ((Value("m"), Value("–")),)).texts == ("Model",)


@pytest.mark.parametrize("text", ["=cmd|calc", "+1", "-1+2", "-1\n", "@x", "\t=x", "\r\n=x", " =x", "＝x"])
def test_a_formula_is_quoted(text: str) -> None:
    """With an apostrophe where a spreadsheet would run a text; numbers stay, also those read as texts."""
    content = csv_file("data/x.csv", pd.DataFrame({text: [text], "n": [-1.5], "read": ["-2.5"]})).content
    head, row = csv.reader(content.splitlines(keepends=True))
    assert head == [f"'{text}", "n", "read"] and row == [f"'{text}", "-1.5", "-2.5"]
