"""models.yaml."""

from pathlib import Path

import pytest

from triathlon_runner import registry
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


def load(tmp_path: Path, text: str) -> registry.Registry:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    return registry.load(path)


def test_a_rows_own_setting_goes_before_the_default(tmp_path: Path) -> None:
    """`defaults` hold where a row is silent."""
    listed = load(tmp_path, GOOD)
    assert [listed.setting(row, "concurrency") for row in listed.models] == [8, 2]


def test_a_row_without_a_name_is_called_by_its_id(tmp_path: Path) -> None:
    """The shortest row has an id and a way to reach it."""
    assert load(tmp_path, GOOD.replace("    name: B\n", "")).row("b").name == "b"


def test_the_projects_own_file_is_good() -> None:
    """models.yaml of the checkout loads, and holds the default model and a dozen others."""
    listed = registry.load(Path(__file__).parents[2] / "models.yaml")
    assert listed.models[0].id == "smollm2-135m-instruct"
    assert len(listed.models) >= 13


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("concurrency: 2", "concurency: 2"), ["line 9", "concurency", "unknown key"]),
        (GOOD.replace("id: b", "id: a"), ["'a' stands 2 times"]),
        (GOOD.replace("judge: a", "judge: z"), ["judge 'z' is not the id of a model", "a, b"]),
        (GOOD.replace("concurrency: 2", "concurrency: -2"), ["line 9", "concurrency", "-2"]),
        (GOOD.replace("id: b", "id: ../b"), ["line 7", "id", "'../b'"]),
        (GOOD.replace("  - id: b\n    name: B\n", "  - name: B\n"), ["line 7", "id", "required"]),
        (GOOD + "  - {id: c, name: C}\n", ["line 11", "exactly one of 'serve' and 'api'"]),
        (
            GOOD.replace("    name: B\n", "    name: B\n    name: C\n"),
            ["line 9", "'name' also stands in line 8"],
        ),
        ("models: [", ["is not YAML"]),
        ("- a\n- b\n", ["expected a mapping with the key 'models'"]),
        ("", ["expected a mapping with the key 'models'"]),
        ("defaults: {}\n", ["models", "required"]),
    ],
)
def test_bad_files_are_refused_with_line_and_key(tmp_path: Path, text: str, said: list[str]) -> None:
    """What is wrong is named with its line, its key and what came."""
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    for part in said:
        assert part in str(caught.value)


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    """No file: where it was looked for and what to write."""
    with pytest.raises(UserError, match=r"no models file at .*--models-file"):
        registry.load(tmp_path / "nothing.yaml")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    """Bytes that are no text are the user's to mend, not a traceback."""
    path = tmp_path / "models.yaml"
    path.write_bytes(b"\xff\xfe\x00models")
    with pytest.raises(UserError, match="cannot read the models file"):
        registry.load(path)


def test_an_unknown_model_gets_the_nearest_name(tmp_path: Path) -> None:
    """A misspelt id is answered with the id that was meant."""
    listed = load(tmp_path, GOOD.replace("id: b", "id: gpt-large"))
    with pytest.raises(UserError, match=r"unknown model .gpt-lrage.; did you mean gpt-large"):
        listed.select(["gpt-lrage"])
    assert [row.id for row in listed.select(["a"])] == ["a"]
