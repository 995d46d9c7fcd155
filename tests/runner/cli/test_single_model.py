"""One model from the command line, without a models file."""

import json
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import KEY, SmallRun

MODEL = "Qwen/Qwen2.5-Coder:7B"
ID = "qwen-qwen2.5-coder-7b"
SUITE = ("--suites", "evolved/core-seeds", "--limit", "1")


def test_a_model_without_a_file(tmp_path: Path) -> None:
    """In an empty folder its name and address are enough; a second run finds nothing open."""
    place = SmallRun(tmp_path)
    with model_server_process("support.core_model:answer") as url:
        for finished in ("1 unit finished, 0 open", "0 units finished, 0 open"):
            result = place.call("run", "--model", MODEL, "--base-url", url, *SUITE)
            assert result.exit_code == 0, result.output
            assert finished in result.output
            assert f"results of '{MODEL}' go to 'results/runs/{ID}'" in result.output
        named = place.call("run", "--model", "plain", "--base-url", url, *SUITE)
        assert named.exit_code == 0 and "go to" not in named.output
    manifest = json.loads((place.results / f"runs/{ID}/evolved/core-seeds.manifest.json").read_text())
    assert manifest["model"] == ID
    assert manifest["identity"] == {"model": MODEL}
    listed = place.call("results", "list", "--json")
    assert [(row["model"], row["units"]) for row in json.loads(listed.output)] == [("plain", 1), (ID, 1)]


def test_only_that_model_runs_beside_a_models_file(tmp_path: Path) -> None:
    """A file's defaults hold, its models are not run; the key is read from the named variable."""
    place = SmallRun(tmp_path)
    with model_server_process("support.core_model:answer") as url:
        (tmp_path / "models.yaml").write_text(
            "defaults: {max_tokens: 900}\n"
            f"models: [{{id: other, api: {{base_url: {url}, model: other}}}}]\n"
        )
        options = ("--model", MODEL, "--base-url", url, "--key-env", "SMALL_RUN_KEY", *SUITE)
        result = place.call("run", *options)
    assert result.exit_code == 0, result.output
    assert [path.name for path in (place.results / "runs").iterdir()] == [ID]
    text = (place.results / f"runs/{ID}/evolved/core-seeds.manifest.json").read_text()
    assert json.loads(text)["settings"]["max_tokens"] == 900
    assert KEY not in text


AT = "--base-url http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--model m", "expected --model and --base-url together"),
        (AT, "expected --model and --base-url together"),
        (f"--models m --model m {AT}", "--model or --models"),
        (f"--model a {AT}", "run that one with --models a"),
        (f"--model :: {AT}", "the name that the server knows it by"),
        ("--model m --base-url 127.0.0.1:9", "--base-url: expected an http(s) address"),
        ("--model m --base-url http://u:hunter2@127.0.0.1/v1", "must hold no user, password"),
        (f"--model m {AT} --key-env hunter2", "--key-env: expected"),
        (f"--model m {AT} --key-env NOBODY_SETS_THIS", "got m: no key: set the environment variable NOBODY_"),
        ("--deadline=", "expected --deadline as 8h"),
        ("--models=", "expected names separated by commas"),
    ],
)
def test_what_is_not_enough_is_refused(tmp_path: Path, options: str, said: str) -> None:
    """What is missing, doubled or wrong is said before anything is asked; no key is repeated."""
    rows = "models: [{id: a, api: {base_url: http://127.0.0.1:9/v1, model: a}}]\n"
    (tmp_path / "models.yaml").write_text(rows)
    code, output = SmallRun(tmp_path).says("run", *options.split())
    assert code == 2 and said in output
    assert "hunter2" not in output
