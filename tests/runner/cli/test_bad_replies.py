"""A server that answers, but with nothing to grade: what the run says of it at its end."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.model_server import model_server_process
from support.small_run import SmallRun

SUITE = ("--suites", "evolved/core-seeds", "--limit", "3")


@pytest.fixture(scope="module")
def requests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "requests"


@pytest.fixture(scope="module")
def url(requests: Path) -> Iterator[str]:
    with model_server_process("support.server_scripts:bad_replies", "--log", str(requests)) as url:
        yield url


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("empty", "empty: the replies to all 3 questions were empty (outcome no_answer)"),
        (
            "long",
            "long: the replies to all 3 questions were refused as longer than its context (outcome"
            " context_overflow)",
        ),
        ("cut", "cut: the replies to all 3 questions were cut"),
    ],
)
def test_replies_without_anything_to_judge(tmp_path: Path, url: str, model: str, said: str) -> None:
    """Nearly all of one kind: a warning with the outcome and what to look at; from the cache, too."""
    place = SmallRun(tmp_path)
    row = f"{{id: m-{model}, context: 512, api: {{base_url: {url}, model: {model}}}}}"
    (tmp_path / "models.yaml").write_text(f"models: [{row}]")
    for folder in ("first", "second"):
        result = place.call("run", *SUITE, "--results", folder)
        assert result.exit_code == 0, result.output
        assert f"warning: m-{said}" in result.output
        refused = "m-long: 3 questions refused as longer than the context of its server"
        assert (refused in result.output) is (model == "long")
    manifest = json.loads((tmp_path / f"first/runs/m-{model}/evolved/core-seeds.manifest.json").read_text())
    full = {"long": {"refused": 3}, "cut": {"cut": 3}}  # cut at 5 tokens, long before the limit
    assert manifest["context_full"] == full.get(model, {})


NO_ROW = "was named with --model, so it has no row"


def models_asked(requests: Path) -> list[str]:
    """The model of each request that the module's server got so far, of all tests."""
    return (
        [json.loads(line)["body"]["model"] for line in requests.read_text().splitlines()]
        if requests.exists()
        else []
    )


@pytest.mark.parametrize(
    ("model", "options", "said"),
    [
        ("long", "", ("set `context: 512` in the row if the model can do no more",)),
        ("other", "", ('ask for it by that name, or add `served_as: ["gpt-5-cheap"]`', f"other {NO_ROW}")),
        (
            "large",
            "",
            (
                "413, the server said 'Request too large'; set a smaller `max_tokens`",
                "not finished: large: all 3 questions met the same error: 413, the server said",
                "open, 3 units: 413, the server said",
                f"large {NO_ROW}",
            ),
        ),
        (
            "locked",
            "",
            (
                "a request without a key was not accepted (401): the server said 'Unauthorized'",
                "`key_env: NAME` in the api block",
                "--key-env NAME",
                f"locked {NO_ROW}",
            ),
        ),
        ("empty", "--budget 0.00001", ("add --price INPUT,OUTPUT",)),
        *(
            ("empty", f"--budget 0.00001 --price {price}", (f"got {price!r}",))
            for price in ("1", "1,x", "-1,2", "1,2,3")
        ),
    ],
)
def test_what_stops_a_model_without_a_row(
    tmp_path: Path, url: str, requests: Path, model: str, options: str, said: tuple[str, ...]
) -> None:
    """Exit code 2 after few requests, with advice that fits a model without a row; no file is left."""
    place, before = SmallRun(tmp_path), len(models_asked(requests))
    code, output = place.says("run", "--model", model, "--base-url", url, *SUITE, *options.split())
    assert code == 2, output
    for text in said:
        assert text in output
    assert "what it may be used for" not in output
    assert models_asked(requests)[before:].count(model) <= 8
    assert not list(place.results.rglob("*.json*"))


def test_a_price_without_a_row(tmp_path: Path, url: str) -> None:
    """A model from the command line costs what --price says."""
    options = ("--budget", "0.00001", "--price", "1,4")
    code, said = SmallRun(tmp_path).says("run", "--model", "empty", "--base-url", url, *SUITE, *options)
    assert code in (0, 1), said  # by what was in flight when it was reached
    assert "the budget of 0.00001 USD is used up (" in said and "e-0" not in said


def test_a_small_budget_pays_for_one_reply(tmp_path: Path, url: str) -> None:
    """Nothing is known of the price of a reply before the first: only one is asked for."""
    call = ("run", "--model", "cut", "--base-url", url, *SUITE[:2], "--limit", "12", "--price", "1,1")
    result = SmallRun(tmp_path).call(*call, "--budget", "0.00001")
    assert "1 unit finished, 11 open" in result.output, result.output


def test_open_units_are_counted_by_reason(tmp_path: Path, url: str) -> None:
    """Where five questions stopped the model: units, not times, and they add up to those that are open."""
    call = ("run", "--model", "large", "--base-url", url, *SUITE[:2], "--limit", "20")
    result = SmallRun(tmp_path).call(*call)
    assert "different questions in a row met the same error: " in result.output
    counts = re.findall(r"^open, (\d+) units?: (.*)", result.output, re.MULTILINE)
    assert [reason.partition(",")[0] for _, reason in counts] == ["413", "not asked"], result.output
    assert [int(count) for count, _ in counts] == [5, 15], "the fifth is one of those that met the error"
    assert "0 units finished, 20 open" in result.output


def test_a_stop_while_the_server_answers_nothing(tmp_path: Path, url: str) -> None:
    """The end says why nothing was finished: the server's last error, and that it was tried again."""
    call = ("run", "--model", "busy", "--base-url", url, *SUITE, "--stop-within", "1s", "--deadline")
    for deadline in ("2s", "10s", "60s"):  # on a busy machine the sandbox may take longer to be prepared
        result = SmallRun(tmp_path).call(*call, deadline)
        assert result.exit_code == 1, result.output
        if "Too many requests'; trying again" in result.output:
            break
    else:
        pytest.fail(result.output)
    reason = "not asked, not asked to the end, or for other reasons; the last error of busy: "
    assert re.search(rf"^open, 3 units: {reason}.*Too many requests", result.output, re.MULTILINE)


def test_a_dry_run_writes_nothing(tmp_path: Path, url: str) -> None:
    """Not even the folder of the results."""
    place = SmallRun(tmp_path)
    result = place.call("run", "--model", "empty", "--base-url", url, *SUITE, "--dry-run")
    assert result.exit_code == 0, result.output
    assert not place.results.exists()
