"""Models without a row, and servers with nothing to grade: what a run says before it asks and at its end."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import KEY, SmallRun
from triathlon_runner.cli._report import _open_units, warnings_about
from triathlon_runner.llm import EndpointStats
from triathlon_runner.schedule import Account, Summary

SUITE = "--suites evolved/core-seeds --limit 3"
MODEL, ID = "Qwen/Qwen2.5-Coder:7B", "qwen-qwen2.5-coder-7b"
AT = "--base-url http://127.0.0.1:9/v1"
NO_ROW = "was named with --model, so it has no row"


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "requests"


@pytest.fixture(scope="module")
def url(requests: Path) -> Iterator[str]:
    with model_server_process("support.server_scripts:bad_replies", "--log", str(requests)) as url:
        yield url


def models_asked(requests: Path) -> list[str]:
    """The model of each request that the module's server got so far, of all tests."""
    lines = requests.read_text().splitlines() if requests.exists() else []
    return [json.loads(line)["body"]["model"] for line in lines]


def test_a_model_without_a_row(tmp_path: Path) -> None:
    """Name, address and a key's variable are enough, also beside a models file, whose defaults hold."""
    place = SmallRun(tmp_path)
    one = "--key-env SMALL_RUN_KEY --suites evolved/core-seeds --limit 1"
    with model_server_process("support.core_model:answer") as url:
        row = f"{{id: other, api: {{base_url: {url}, model: other}}}}"
        (tmp_path / "models.yaml").write_text(f"defaults: {{max_tokens: 900}}\nmodels: [{row}]\n")
        goes = f"results of '{MODEL}' go to 'results/runs/{ID}'"
        for finished in ("1 unit finished, 0 open", "0 units finished, 0 open"):
            place.expect(f"run --model {MODEL} --base-url {url} {one}", 0, finished, goes)
        place.expect(f"run --model plain --base-url {url} {one}", 0, "!go to")
    text = (place.results / f"runs/{ID}/evolved/core-seeds.manifest.json").read_text()
    manifest = json.loads(text)
    assert (manifest["model"], manifest["identity"]) == (ID, {"model": MODEL})
    assert manifest["settings"]["max_tokens"] == 900 and KEY not in text
    rows = json.loads(place.call("results", "list", "--json").output)
    assert [(row["model"], row["units"]) for row in rows] == [("plain", 1), (ID, 1)]


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
        ("--models b", "unknown model 'b'; known are: a"),
        ("--suites loop/cor", "unknown suite 'loop/cor'; did you mean loop/core"),
        ("--models-file no.yaml", "no models file at 'no.yaml'"),
        ("--data nowhere", "expected a folder with data files at --data"),
        ("--results models.yaml/results", "cannot write to the results folder"),
        ("--deadline=", "expected --deadline as 8h"),
        ("--models=", "expected names separated by commas"),
        *((f"--model m {AT} --price {price}", f"got {price!r}") for price in ("1", "1,x", "-1,2", "1,2,3")),
    ],
)
def test_what_is_not_enough_is_refused(tmp_path: Path, options: str, said: str) -> None:
    """What is missing, doubled or wrong is said before anything is asked; no key is repeated."""
    rows = "models: [{id: a, api: {base_url: http://127.0.0.1:9/v1, model: a}}]\n"
    (tmp_path / "models.yaml").write_text(rows)
    SmallRun(tmp_path).expect(f"run {options}", 2, said, "!hunter2")


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("empty", "empty (outcome no_answer)"),
        ("long", "refused as longer than its context (outcome context_overflow)"),
        ("cut", "cut"),
    ],
)
def test_replies_without_anything_to_judge(tmp_path: Path, url: str, model: str, said: str) -> None:
    """Nearly all of one kind: a warning with the outcome and what to look at; from the cache, too."""
    place = SmallRun(tmp_path)
    row = f"{{id: m-{model}, context: 512, api: {{base_url: {url}, model: {model}}}}}"
    (tmp_path / "models.yaml").write_text(f"models: [{row}]")
    warning = f"warning: m-{model}: the replies to all 3 questions were {said}"
    refused = "m-long: 3 questions refused as longer than the context of its server"
    for folder in ("first", "second"):
        place.expect(
            f"run {SUITE} --results {folder}", 0, warning, refused if model == "long" else f"!{refused}"
        )
    manifest = json.loads((tmp_path / f"first/runs/m-{model}/evolved/core-seeds.manifest.json").read_text())
    full = {"long": {"refused": 3}, "cut": {"cut": 3}}  # cut at 5 tokens, long before the limit
    assert manifest["context_full"] == full.get(model, {})


NO_KEY = "a request without a key was not accepted (401): the server said 'Unauthorized'"
OTHER_NAME = 'ask for it by that name, or add `served_as: ["gpt-5-cheap"]`'
KEY_ENV = "`key_env: NAME` in the api block"


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("long", ("set `context: 512` in the row if the model can do no more",)),
        ("other", (OTHER_NAME, f"other {NO_ROW}")),
        ("locked", (NO_KEY, KEY_ENV, "--key-env NAME", f"locked {NO_ROW}")),
        ("empty --budget 0.00001", ("say --price INPUT,OUTPUT",)),
    ],
)
def test_what_stops_a_model_without_a_row(
    tmp_path: Path, url: str, requests: Path, model: str, said: tuple[str, ...]
) -> None:
    """Exit code 2 after few requests, with advice that fits a model without a row; no file is left."""
    place, before = SmallRun(tmp_path), len(models_asked(requests))
    place.expect(f"run --base-url {url} {SUITE} --model {model}", 2, "!what it may be used for", *said)
    assert models_asked(requests)[before:].count(model) <= 8
    assert not list(place.results.rglob("*.json*"))


def test_a_small_budget_pays_for_one_reply(tmp_path: Path, url: str) -> None:
    """Nothing is known of the price of a reply before the first: only one is asked for, at --price."""
    run = f"run --model cut --base-url {url} --suites evolved/core-seeds --limit 12 --price 1,1"
    used = "the budget of 0.00001 USD is used up ("
    SmallRun(tmp_path).expect(f"{run} --budget 0.00001", 1, "1 unit finished, 11 open", used, "!e-0")


def test_open_units_are_counted_by_reason(tmp_path: Path, url: str) -> None:
    """Where five questions stopped the model: units, not times, and they add up to those that are open."""
    run = f"run --model large --base-url {url} --suites evolved/core-seeds --limit 20"
    same = "different questions in a row met the same error: "
    said = SmallRun(tmp_path).expect(run, 2, same, "0 units finished, 20 open")
    counts = re.findall(r"^open, (\d+) units?: (.*)", said, re.MULTILINE)
    assert [reason.partition(",")[0] for _, reason in counts] == ["413", "not asked"], said
    assert [int(count) for count, _ in counts] == [5, 15], "the fifth is one of those that met the error"


def test_the_last_error_of_a_server_that_answers_nothing() -> None:
    """The end says why nothing was finished, also where a stop came while all was tried again."""
    account = Account("busy", EndpointStats(retried_error="429, Too many requests"), None)
    assert list(warnings_about(account)) == ["the last error of busy: 429, Too many requests"]


REST = "not asked, not asked to the end, or for other reasons"


@pytest.mark.parametrize(
    ("still_open", "reasons"), [(3, ["3 units: busy"]), (4, ["3 units: busy", f"1 unit: {REST}"]), (2, [])]
)
def test_each_open_unit_has_one_reason(still_open: int, reasons: list[str]) -> None:
    """The rest have one together; why a model stopped is said elsewhere."""
    failures = Counter({"busy": 3} if reasons else {"no key": 2})
    summary = Summary(open=still_open, failures=failures, errors=["m: no key"])
    assert _open_units(summary) == [f"open, {reason}" for reason in reasons]
