"""`triathlon submit check`: a whole submission is taken, a tampered one is refused with the reason."""

import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.model_server import model_server_process
from support.small_run import ROWS, SUITES, SmallRun, made
from triathlon_runner import models_yaml
from triathlon_runner.errors import UserError
from triathlon_runner.records import Usage
from triathlon_site.build import build

SEEDS = "evolved/core-seeds"
WHOLE = "evolved/core-subtle"
"""A suite of which all tasks were asked."""
Line = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two tasks of a suite of each discipline and a whole suite, with tokens as a real server counts them."""
    small = made(tmp_path_factory.mktemp("submit"))
    with model_server_process("support.core_model:answer") as url:
        (small.root / "models.yaml").write_text(ROWS.format(url=url))
        assert small.call("run", "--suites", WHOLE, "--profile", "standard").exit_code == 0

    def count(line: Line) -> None:
        line["usage"]["output_tokens"] = len(json.dumps(line)) // 6

    for suite in (*SUITES.split(","), WHOLE):
        change_all(small, suite, count)
    return small


@pytest.fixture
def place(run: SmallRun, tmp_path: Path) -> SmallRun:
    """A copy to spoil, with the cache of answer keys."""
    shutil.copytree(run.root, tmp_path / "copy")
    return SmallRun(tmp_path / "copy")


def check(place: SmallRun, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and the report."""
    result = place.call("submit", "check", "results/runs/m", "--json", *options)
    document: dict[str, Any] = json.loads(result.stdout)
    return result.exit_code, document


def change(place: SmallRun, suite: str, edit: Callable[[Line], None]) -> None:
    """Edits the first line of a suite's results."""
    first = True

    def edit_first(line: Line) -> None:
        nonlocal first
        if first:
            edit(line)
        first = False

    change_all(place, suite, edit_first)


def change_all(place: SmallRun, suite: str, edit: Callable[[Line], None]) -> None:
    """Edits each line of a suite's results."""
    path = place.results / f"runs/m/{suite}.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        edit(line)
    write_results(place, suite, lines)


def write_results(place: SmallRun, suite: str, lines: Sequence[Line], **manifest: object) -> None:
    """Writes lines and a manifest that has the sum of their tokens, and these fields."""
    path = place.results / f"runs/m/{suite}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    usage = {name: sum(line["usage"].get(name, 0) for line in lines) for name in Usage.model_fields}
    receipt = path.with_suffix(".manifest.json")
    receipt.write_text(json.dumps(json.loads(receipt.read_text()) | {"usage": usage} | manifest))


def only(place: SmallRun, suite: str) -> list[Line]:
    """Removes the results of all other suites; returns the lines of this one."""
    own = place.results / "runs/m"
    for path in own.rglob("*.jsonl"):
        if path != own / f"{suite}.jsonl":
            path.unlink()
            path.with_suffix(".manifest.json").unlink()
    return [json.loads(line) for line in (own / f"{suite}.jsonl").read_text().splitlines()]


def problems(document: dict[str, Any], suite: str) -> str:
    """What is against one suite, as text."""
    (file,) = [one for one in document["files"] if one["suite"] == suite]
    return "\n".join(f"{one['place']}: {one['message']}" for one in file["problems"])


def test_one_differing_sample_counts_itself_alone(place: SmallRun) -> None:
    """The other samples of its task are still graded as stored."""
    path = place.results / f"runs/m/{SEEDS}.jsonl"
    sample = json.loads(path.read_text().splitlines()[0])
    others = [json.dumps(sample | {"sample": number}) for number in (0, 1)]
    path.write_text("\n".join([*others, json.dumps(sample | {"sample": 2, "changes": ["altered"]}), ""]))
    _, document = check(place)
    (file,) = [file for file in document["files"] if file["suite"] == SEEDS]
    assert (file["units"], file["verified"]) == (3, 2), file


def test_a_whole_submission_is_taken(place: SmallRun) -> None:
    """Exit code 0, every unit graded again, a report for the pull request and a statement of the hashes."""
    only(place, WHOLE)
    code, document = check(place, "--markdown", "report.md", "--statement", "statement.json")
    assert (code, document["accepted"], document["listed"]) == (0, True, True)
    assert [(one["units"], one["planned"], one["verified"]) for one in document["files"]] == [(40, 40, 40)]
    assert "can be taken" in (place.root / "report.md").read_text()
    statement = json.loads((place.root / "statement.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"]["result"] == "PASSED" and len(statement["subject"]) == 1


def counts(lines: Sequence[Line]) -> dict[str, int]:
    return dict(Counter(line["outcome"] for line in lines))


@pytest.mark.parametrize(
    ("keep", "manifest", "said"),
    [
        (30, {}, "got 30 lines and 0 open: 10 are neither in the file nor open"),
        (30, {"tasks_planned": 30, "profile": "quick"}, "10 are neither"),
        (30, {"tasks_in_suite": 30, "tasks_planned": 30}, "tasks_in_suite: expected 40, got 30"),
        (30, {"open_units": 9}, "got 30 lines and 9 open: 1 are neither"),
        (1, {"tasks_planned": 1}, "got 1 line and 0 open: 39 are neither"),
        (0, {"tasks_planned": 0}, "got 0 lines and 0 open: 40 are neither"),
        (40, {"open_units": 5}, "-5 are neither"),
    ],
)
def test_units_left_out_are_counted_and_refused(
    place: SmallRun, keep: int, manifest: dict[str, object], said: str
) -> None:
    """Whatever the manifest says: lines and open units are the tasks of the suite times the samples."""
    lines = only(place, WHOLE)[:keep]
    write_results(place, WHOLE, lines, outcomes=counts(lines), **manifest)
    code, document = check(place, "--statement", "statement.json")
    assert code == 1 and said in problems(document, WHOLE)
    predicate = json.loads((place.root / "statement.json").read_text())["predicate"]
    assert (predicate["result"], predicate["passedTests"]) == ("FAILED", [])


def test_a_second_sample_of_some_tasks_is_refused(place: SmallRun) -> None:
    """The best of several would be no fair measure."""
    lines = only(place, WHOLE)
    more = [*lines, {**lines[0], "sample": 1}]
    write_results(place, WHOLE, more, outcomes=counts(more))
    assert "expected 80 units (40 tasks, 2 samples each), got 41 lines" in problems(check(place)[1], WHOLE)


def test_open_units_are_taken_without_mark_and_rank(place: SmallRun) -> None:
    """What could not be asked may be what failed: it is counted, and no board marks or ranks the rest."""
    lines = only(place, WHOLE)[:30]
    write_results(place, WHOLE, lines, outcomes=counts(lines), open_units=10)
    code, document = check(place, "--markdown", "report.md", "--statement", "results/runs/m/verified.json")
    assert (code, document["accepted"]) == (0, True)
    report = (place.root / "report.md").read_text()
    assert "30 of 40 | 30" in report and "accepted without mark and rank: 10 open" in report
    build(place.results, place.root / "_site", models_yaml.load(place.root / "models.yaml"))
    board = (place.root / "_site/evolved.html").read_text()
    assert "30 of 40" in board and "10 open" in board and "m…</a>" in board and "m✓</a>" not in board
    assert not re.search(r'<td class="rank" data-v="\d', board)


@pytest.mark.parametrize("lines", [30, 40], ids=["units open", "another engine"])
def test_a_statement_of_ones_own_is_refused(place: SmallRun, lines: int) -> None:
    """A board reads it as the check's: it has to say what the check says."""
    receipt = place.results / "runs/m/verified.json"
    own = only(place, WHOLE)[:lines]
    write_results(place, WHOLE, own, outcomes=counts(own), open_units=40 - lines)
    check(place, "--statement", str(receipt))
    assert check(place)[0] == 0
    stated = json.loads(receipt.read_text())
    if lines == 30:
        stated["predicate"] |= {"result": "PASSED", "passedTests": [WHOLE], "failedTests": []}
    else:
        stated["predicate"]["configuration"][0]["annotations"]["version"] = "999"
    receipt.write_text(json.dumps(stated))
    code, document = check(place)
    assert code == 1 and "expected what this check states" in document["problems"][0]["message"]


def test_a_taken_submission_stands_on_the_board(place: SmallRun) -> None:
    """The same model with the same scores; its statement beside the results gives them the mark."""
    only(place, WHOLE)
    code, document = check(place, "--statement", "results/runs/m/verified.json")
    build(place.results, place.root / "_site", models_yaml.load(place.root / "models.yaml"))
    rows = json.loads((place.root / "_site/data/evolved-core.json").read_text())["rows"]
    (checked,) = [one["scores"] for one in document["files"] if one["suite"] == WHOLE]
    (shown,) = [row["score"] for row in rows if row["column"] == rows[0]["column"]]
    assert code == 0 and {row["model"] for row in rows} == {"m"}
    assert shown == pytest.approx(next(iter(checked.values())), rel=1e-5)
    board = (place.root / "_site/evolved.html").read_text()
    assert ">M<" in board and ">m✓</a>" in board


def flip_a_verdict(line: Line) -> None:
    """The outcome and all that says so, as somebody would who wants it to agree with itself."""
    line["outcome"] = line["verdict"]["outcome"] = "failed"


def edit_a_reply(line: Line) -> None:
    """Another program in the reply than the one that was judged."""
    line["reply"]["text"] = line["reply"]["text"].replace("return", "return not")


@pytest.mark.parametrize(
    ("tamper", "reason"),
    [
        (flip_a_verdict, "expected 'passed' (graded again), got 'failed'"),
        (edit_a_reply, "(graded again), got 'passed'"),
        (None, "data.sha256: expected "),
    ],
    ids=["a verdict", "a reply", "another data set"],
)
def test_a_tampered_submission_hears_why(
    place: SmallRun, tamper: Callable[[Line], None] | None, reason: str
) -> None:
    """The command ends with 1 and names file, unit and reason: one verdict, one reply, the data set."""
    if tamper is not None:
        change(place, SEEDS, tamper)
    else:
        path = place.results / f"runs/m/{SEEDS}.manifest.json"
        data = {"name": "core", "version": "1", "sha256": "ab" * 32}
        path.write_text(json.dumps(json.loads(path.read_text()) | {"data": data}))
    result = place.call("submit", "check", "results/runs/m")
    said = " ".join(result.stdout.split())
    assert result.exit_code == 1 and "submission of m: cannot be taken yet" in said
    assert reason in said and f"{SEEDS}." in said


NOW: Line = {"requests": 1, "input_tokens": 1, "output_tokens": 50}


@pytest.mark.parametrize(
    ("line", "manifest", "said"),
    [
        ({}, {"data": {"name": "core", "version": "1", "sha256": "ab" * 32}}, "data.sha256: expected"),
        ({}, {"protocol": "0" * 16}, "protocol: expected"),
        ({}, {"ended": "2999-01-01T00:00:00+00:00"}, "expected a time that has passed"),
        ({}, {"ended": ""}, "expected a run that came to its end"),
        ({}, {"settings": {}}, "settings.api: expected "),
        ({}, {"private": True}, "got those of a private one"),
        ({}, {"origin": {"format": "evalplus", "file": "f", "sha256": "0"}}, "got an import"),
        ({"usage": NOW | {"requests": 0}}, {}, "usage.requests: expected 1 or more"),
        ({"usage": NOW | {"output_tokens": 10**8}}, {}, "usage.output_tokens: expected"),
        ({"usage": NOW, "seconds": 0.001}, {}, "seconds: expected more"),
        ({"usage": NOW | {"output_tokens": -5}}, {}, "usage.output_tokens: Input should be"),
        ({"seconds": float("nan")}, {}, "seconds: Input should be a finite number, got nan"),
    ],
    ids=str,
)
def test_what_no_run_of_this_version_gives_is_refused(
    place: SmallRun, line: Line, manifest: Line, said: str
) -> None:
    """Another data set, protocol, time or origin; requests, tokens and seconds that no server gives."""
    path = place.results / f"runs/m/{SEEDS}.manifest.json"
    change(place, SEEDS, lambda first: first.update(line))
    path.write_text(json.dumps(json.loads(path.read_text()) | manifest))
    code, document = check(place)
    assert code == 1 and said in problems(document, SEEDS)


def test_a_folder_that_is_named_like_results_is_no_results_file(place: SmallRun) -> None:
    """What lies in it does not belong there, and is named."""
    folder = place.results / "runs/m/evolved/core-combine.jsonl"
    folder.mkdir()
    (folder / "x.txt").write_text("x")
    code, document = check(place)
    assert code == 1 and [one["place"] for one in document["problems"]] == [
        "evolved/core-combine.jsonl/x.txt"
    ]


@pytest.mark.parametrize("kind", ["a link", "a link to a folder", "a pipe"])
def test_nothing_is_read_through_a_link(place: SmallRun, kind: str) -> None:
    """A link or a pipe for a file is named, and nothing is read: no line of another file is in the report."""
    path = place.results / f"runs/m/{SEEDS}.jsonl"
    if kind == "a link to a folder":
        path = path.parent
        path.rename(place.root / "elsewhere")
        path.symlink_to(place.root / "elsewhere")
    else:
        path.unlink()
        if kind == "a pipe":
            os.mkfifo(path)
        else:
            (place.root / "passwords").write_text("root:secret\n")
            path.symlink_to(place.root / "passwords")
    code, document = check(place, "--statement", "statement.json")
    (problem,) = document["problems"]
    assert (code, document["files"]) == (1, []) and problem["place"] == str(
        path.relative_to(place.results / "runs/m")
    )
    assert f"expected a file, got {kind.removesuffix(' to a folder')}" in problem["message"]
    assert "secret" not in json.dumps(document)
    assert json.loads((place.root / "statement.json").read_text())["predicate"]["result"] == "FAILED"


def test_wrong_token_counts_are_refused_with_what_to_do(place: SmallRun) -> None:
    """The bounds stand in the message, and the way out of them; a server without counts is no problem."""

    def count(line: Line) -> None:
        line["usage"] = line["usage"] | {"output_tokens": 1, "uncounted": 0}

    change_all(place, SEEDS, count)
    text = problems(check(place)[1], SEEDS)
    assert "(0.2 to 30 characters a token), got 2; " in text and "send no `usage`" in text

    def know_nothing(line: Line) -> None:
        line["usage"] = line["usage"] | {"output_tokens": 0, "uncounted": line["usage"]["requests"]}

    change_all(place, SEEDS, know_nothing)
    assert "usage" not in problems(check(place)[1], SEEDS)


def test_keys_strangers_and_own_suites_are_refused(place: SmallRun) -> None:
    """A key is named and not shown, wherever it stands in a prompt; other files and suites do not belong."""
    key = "sk-proj-abcdefgh12345678"

    def leak(line: Line) -> None:
        line["prompt"] = f"{key} {line['prompt']} {key}"

    own = place.results / "runs/m"
    (own / "notes.txt").write_text("x")
    for ending in (".jsonl", ".manifest.json"):
        shutil.copy(own / f"{SEEDS}{ending}", own / f"loop/mine{ending}")
        shutil.copy(own / f"{SEEDS}{ending}", own / f"{SEEDS}@temperature-0.9{ending}")
    change(place, SEEDS, leak)
    code, document = check(place)
    assert code == 1 and key not in json.dumps(document)
    assert f"{SEEDS}.jsonl, line 1: expected no key" in problems(document, SEEDS)
    assert "others cannot grade results of suites of your own" in problems(document, "loop/mine")
    assert "submissions have no settings of your own" in problems(document, f"{SEEDS}@temperature-0.9")
    assert document["problems"][0]["place"] == "notes.txt"


def test_a_report_has_no_markup_of_a_submission(place: SmallRun) -> None:
    """What a submission's file says stands in the comment as text: no link, no mention, no heading."""
    own = place.results / "runs/m"
    (own / "loop/core.manifest.json").write_text('{"a": "[x](http://evil.example) @everyone\\n# Done"}')
    result = place.call("submit", "check", "results/runs/m", "--markdown", "-")
    assert result.exit_code == 1
    assert result.stdout.startswith("## Submission of `m`") and "grading again" not in result.stdout
    assert "](http" not in result.stdout and "\n# " not in result.stdout


def test_another_folder_is_refused(place: SmallRun) -> None:
    """What is expected is said."""
    for folder in ("results", "nowhere"):
        result = place.call("submit", "check", folder)
        assert isinstance(result.exception, UserError)
        assert "results/runs/MODEL, got" in str(result.exception)
