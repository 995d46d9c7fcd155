"""Keys that are pasted into models.yaml, an option or results: found, and never shown."""

import json
import re
import time
from pathlib import Path

import pytest

from support.case_files import listed
from triathlon_runner import models_yaml
from triathlon_runner.errors import UserError
from triathlon_runner.pasted_keys import REMOVED, check_option, remove_keys, why_secret

RANDOM = "f3Kq8ZxT1vBn6MwP0sLd9RyC2hJg7uEa"
BEGINNINGS = "sk- sk-ant-api03- sk-or-v1- AIza ya29.a0 ghp_ github_pat_ gsk_ xai- nvapi- sk_live_ npm_"
KEYS = [
    *(beginning + RANDOM for beginning in BEGINNINGS.split()),
    "sk-proj-abcDEF_ghiJKL-mnoPQR",
    "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "SG." + RANDOM[:22] + "." + RANDOM,
    "pypi-AgEIcHlwaS5vcmc" + RANDOM,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Bearer " + RANDOM,
    "AZURE_API_KEY=" + RANDOM,
    "-----BEGIN RSA PRIVATE KEY-----\n" + RANDOM,
]


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_found_however_it_is_written(key: str) -> None:
    """As it is, behind a line break, with one escape or nothing but escapes; and it is removed."""
    in_escapes = '"' + "".join(f"\\u{ord(char):04x}" for char in key) + '"'
    one_escape = f'{{"a": "\\u{ord(key[0]):04x}{key[1:]}"}}'
    for text in (key, f"a key: '{key}'", json.dumps(f"x\n{key}\n"), in_escapes, one_escape):
        assert why_secret(text), text
    assert key[-12:] not in remove_keys(f"got {key}") and REMOVED in remove_keys(key)


@pytest.mark.parametrize("text", listed(Path(__file__).with_name("no_keys.txt"))["texts"])
def test_ordinary_text_is_no_key(text: str) -> None:
    """Nor is a placeholder of documentation."""
    assert not why_secret(text) and not why_secret(json.dumps({"program": f"x\n{text}\n"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no route to http://me:hunter2@proxy:1/", f"no route to http://{REMOVED}@proxy:1/"),
        ("GET https://hunter2@host/a", f"GET https://{REMOVED}@host/a"),
        ("GET https://host/a?x=1&api_key=hunter2#b", f"GET https://host/a?x=1&api_key={REMOVED}#b"),
        ("write http://user:password@host", "write http://user:password@host"),
    ],
)
def test_messages_leave_out_the_password_of_an_address(text: str, expected: str) -> None:
    """The example that messages give stays."""
    assert remove_keys(text) == expected


REPEATED = [
    *("a-", "a.", "a+b+", "a", "a://b:", "http://a", "?key=", "\\", "\\u0073k-", "eyJ", "eyJaaaaaaaa."),
    *("SG.", "Bearer ", "Bearer a", "sk-", "sk-a ", "sk-a-", "-----BEGIN ", "-----BEGIN A PRIVATE KEY-----"),
    *("api-key=", "api-key=a"),
]


@pytest.mark.parametrize("part", REPEATED)
def test_a_megabyte_takes_no_longer_than_its_length(part: str) -> None:
    """Where parts of a text are read twice it takes from minutes to an hour."""
    start = time.process_time()
    text = part * (2**20 // len(part))
    why_secret(text)
    remove_keys(text)
    assert time.process_time() - start < 5


ROW = "models:\n  - id: a\n    {name}\n    "
API = ROW + "api: {{base_url: http://127.0.0.1:1/v1, model: x, {setting}}}\n"
HUB = "{{huggingface: {{repo: a/b, revision: main}}}}"
SERVED = ROW + f"serve: {{{{engine: vllm, weights: {HUB}, {{setting}}}}}}\n"


def refusal(tmp_path: Path, setting: str, name: str = "name: A", row: str = API) -> str:
    """What is said of a file of one row with one setting more in line 4, or another name in line 3."""
    path = tmp_path / "models.yaml"
    path.write_text(row.format(name=name, setting=setting))
    with pytest.raises(UserError) as caught:
        models_yaml.load(path)
    return str(caught.value)


@pytest.mark.parametrize("key", [key for key in KEYS if "\n" not in key])
def test_a_providers_key_is_refused_anywhere(tmp_path: Path, key: str) -> None:
    """Whatever holds it, the message has line and hint and not the key; all of a file are told at once."""
    settings = ("body: {user: %s}", "body: {%s: 1}", "headers: {X-Team: %s}", "unknown: %s", "key_env: %s")
    names = (f"notes: 'it is {key}'", f'notes: "\\x{ord(key[0]):02x}{key[1:]}"', f"name: A   # {key}")
    said = [refusal(tmp_path, setting % key) for setting in settings]
    said += [refusal(tmp_path, "", name) for name in names]
    said += [refusal(tmp_path, setting % key, row=SERVED) for setting in ("env: {A: %s}", "args: {x: [%s]}")]
    for message in said:
        assert re.search(r"models.yaml, line [34]: ", message) and "key_env" in message, message
        assert key not in message and key[-12:] not in message
    both = refusal(tmp_path, f"body: {{user: {key}}}", f"name: A   # hf_{RANDOM}").splitlines()
    assert [line.split(": ")[0].rpartition(" ")[2] for line in both[:-1]] == ["3", "4"]


@pytest.mark.parametrize(
    ("setting", "row"),
    [
        ("headers: {Authorization: hunter2}", API),
        ("headers: {X-Api-Key: hunter2}", API),
        ("", API.replace("127.0.0.1", "me:hunter2@127.0.0.1")),
        ("", API.replace("http://127.0.0.1", "me:hunter2@127.0.0.1")),
        ("", "models: [*hunter2]\n"),
        ("secret_headers: {X-Team: hunter2}", API),
        ("secret_headers: hunter2", API),
    ],
)
def test_no_message_repeats_a_secret(tmp_path: Path, setting: str, row: str) -> None:
    said = refusal(tmp_path, setting, row=row)
    assert "models.yaml" in said and "hunter2" not in said


def test_an_option_that_holds_a_key_is_refused() -> None:
    """On the command line, too: it stays in the shell's history and in manifests. Models' names are none."""
    for value in ("sk-" + RANDOM, "Bearer " + RANDOM):
        with pytest.raises(UserError, match=r"expected no key at --model, got .*\S; put") as caught:
            check_option("--model", value)
        assert value not in str(caught.value)
    for name in ("qwen2.5-coder:7b", "Qwen/Qwen2.5-Coder-32B-Instruct-GPTQ-Int4", "ft:gpt-4o:acme::A1b2C3d4"):
        check_option("--model", name)
