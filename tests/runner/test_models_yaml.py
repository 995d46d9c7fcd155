"""models.yaml."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

from support.case_files import rows, unescaped
from triathlon_runner import models_yaml
from triathlon_runner.errors import UserError

API = "api: {base_url: http://127.0.0.1:1/v1, model: x}"
GOOD = f"""\
defaults: {{concurrency: 8}}
judge: a
models:
  - id: a
    name: A
    {API}
  - id: b
    name: B
    concurrency: 2
    {API}
"""


BOMB = "a: &a [1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefghijkl", "bcdefghijklm", strict=True)
)
"""Aliases of aliases, for ten to the power of twelve values."""
ROW = "models:\n  - id: a\n    "
FILES = {
    "good": GOOD,
    "api": ROW + "api: {base_url: http://127.0.0.1:1/v1, model: x, SETTING}\n",
    "serve": ROW + "serve: {engine: vllm, weights: {huggingface: {repo: a/b, revision: main}}, SETTING}\n",
}


def load(tmp_path: Path, text: str) -> models_yaml.Registry:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    return models_yaml.load(path)


BAD = [
    (FILES[row["file"]].replace(unescaped(row["old"]), new) if row["file"] else new, row["said"].split(" | "))
    for row in rows(Path(__file__).with_name("bad_models_files.csv"))
    for new in [unescaped(row["new"])]
]
"""Files, one by its whole text, others by what is changed in a good one, and what is said of them."""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *BAD,
        (BOMB, ["expected at most 100,000 values"]),
        ("[" * 5000, ["models.yaml", "expected lists and mappings a few levels deep"]),
        ("n: " + "9" * 5000, ["line 1: expected a finite number"]),
        (GOOD + "  - {id: c, name: C}\n", ["line 11", "exactly one of 'serve' and 'api'"]),
        (GOOD.replace("    name: B\n", "    name: B\n" * 2), ["line 9", "'name' also stands in line 8"]),
        ("", ["line 1: the file: expected a mapping", "got null"]),
    ],
)
def test_bad_files_are_refused_with_line_and_key(tmp_path: Path, text: str, said: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    for part in said:
        assert part in f"{caught.value}\n"
    for term in ("tuple", "regex", "pattern", "validation", "pydantic", "Undefined", "^[a-z"):
        assert term not in str(caught.value)


def test_faults_come_in_the_order_of_their_lines(tmp_path: Path) -> None:
    """All at once, whatever the model, key or kind: a person fixes a file from its top to its end."""
    rows = "models:\n  - {name: A, id: 7}\n  - id: b\n    api: {model: x}\n    speed: -1\n    kind: chat\n"
    text = rows + "defaults: {concurrency: 0}\n"
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    numbers = [int(number) for number in re.findall(r", line (\d+)", str(caught.value))]
    assert numbers == [2, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "slip",
    [
        "&a ", "*a", "!!bool 7", "!!int x", "!!set {a}", "!!binary aGk=", "<<: ", "<<: [a]", "!foo ", "? ",
        "{", "}", "[", "]", ": ", "- ", "\t", "'", '"', "|\n", "%", "@", "\\", "# ", "\n", "---\n", "...\n",
        "null", "yes", ".inf", "0x", "1:99:99", "2024-02-30", "9" * 5000, "\x00", "\ufeff", "\u2028",
    ],
)  # fmt: skip
def test_no_slip_of_the_hand_ends_in_a_traceback(tmp_path: Path, slip: str) -> None:
    for position in range(0, len(GOOD), 3):
        with suppress(UserError):
            load(tmp_path, GOOD[:position] + slip + GOOD[position:])


def test_what_a_good_file_says(tmp_path: Path) -> None:
    """A row's setting goes before the default and a merged one; the id is the name; a date stays text.

    JSON's two escapes of an emoji are that character.
    """
    first, second = load(tmp_path, GOOD.replace("    name: B\n", "")).models
    listed = load(tmp_path, GOOD)
    assert [listed.setting(row, "concurrency") for row in (first, second)] == [8, 2]
    assert second.name == "b"
    text = (
        FILES["api"]
        .replace("SETTING", "body: {since: 2024-11-05}")
        .replace("- id: a", '- id: a\n    name: "\\ud83e\\udd17"\n    released: 2024-11-05')
    )
    row = load(tmp_path, text).row("a")
    assert (row.name, row.released) == ("\N{HUGGING FACE}", "2024-11-05")
    assert row.api is not None and row.api.body == {"since": "2024-11-05"}
    text = (
        "models:\n  - &first {id: a, concurrency: 3, api: &api {base_url: http://127.0.0.1:1/v1, model: x}}\n"
        "  - {<<: *first, id: b}\n  - {id: c, api: {<<: *api, model: y}}\n"
    )
    rows = load(tmp_path, text).models
    assert [(row.id, row.concurrency) for row in rows] == [("a", 3), ("b", 3), ("c", None)]
    assert [row.api.model for row in rows if row.api] == ["x", "x", "y"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A file that is not there, bytes that are no text, a folder."""
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00models")
    for path, said in (
        (tmp_path / "models.yaml", r"no models file at .*--models-file"),
        (binary, r"cannot read .*binary.yaml.*UTF-8, got .*0xff"),
        (tmp_path, r"cannot read .* Is a directory"),
    ):
        with pytest.raises(UserError, match=said):
            models_yaml.load(path)


def test_all_unknown_models_are_named() -> None:
    """Each with its nearest name; where there is none and many are known, the command that lists them."""
    listed = models_yaml.Registry.model_construct(
        models=tuple(models_yaml.ModelRow.model_construct(id=f"row-{n}") for n in range(9))
    )
    assert [row.id for row in listed.select(["row-1"])] == ["row-1"]
    with pytest.raises(UserError) as refused:
        listed.select(["nope", "rwo-3", "row-1"])
    first, second = str(refused.value).splitlines()
    assert first == "unknown model 'nope'; `triathlon models` lists the 9 that there are"
    assert second.startswith("unknown model 'rwo-3'; did you mean row-3")
