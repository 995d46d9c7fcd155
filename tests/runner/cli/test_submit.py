"""`triathlon submit check`: a whole submission is taken, a tampered one is refused with the reason."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.small_run import SUITES, SmallRun, made, served
from triathlon_runner.memo import python_version
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import Usage

SEEDS = "evolved/core-seeds"
HERE = python_version()
WHOLE = "evolved/core-subtle"
"""A suite of which all tasks were asked."""
Line = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> SmallRun:
    """Two tasks of a suite of each discipline and a whole suite, with tokens as a real server counts them."""
    small = made(tmp_path_factory.mktemp("submit"))
    with served(small.root):
        small.expect(f"run --suites {WHOLE} --profile standard", 0)
    for suite in (*SUITES.split(","), WHOLE):
        count_tokens(small, suite, lambda line: {"output_tokens": len(json.dumps(line)) // 6})
    return small


@pytest.fixture
def place(run: SmallRun, tmp_path: Path) -> SmallRun:
    """A copy to spoil, with the cache of answer keys."""
    shutil.copytree(run.root, tmp_path / "copy")
    return SmallRun(tmp_path / "copy")


def check(place: SmallRun, *options: str) -> tuple[int, Line]:
    result = place.call("submit", "check", "results/runs/m", "--json", *options)
    document: Line = json.loads(result.stdout)
    return result.exit_code, document


def count_tokens(place: SmallRun, suite: str, usage: Callable[[Line], Line]) -> None:
    """Changes the usage of each line of a suite, and its time: no server counts so many tokens in 10 ms."""
    lines = place.records(suite)
    counted = [line | {"usage": line["usage"] | usage(line), "seconds": 1.0} for line in lines]
    write_results(place, suite, counted)


def write_results(place: SmallRun, suite: str, lines: Sequence[Line], **manifest: object) -> None:
    """Writes lines and a manifest that has their outcomes, the sum of their tokens, and these fields."""
    place.write(suite, lines)
    usage = {name: sum(line["usage"].get(name, 0) for line in lines) for name in Usage.model_fields}
    outcomes = dict(Counter(line["outcome"] for line in lines))
    place.edit_manifest(suite, **({"usage": usage, "outcomes": outcomes} | manifest))


def only(place: SmallRun, suite: str) -> list[Line]:
    """Removes the results of all other suites; returns the lines of this one."""
    for path in (place.results / "runs/m").rglob("*.jsonl"):
        if path != place.lines(suite):
            path.unlink()
            path.with_suffix(".manifest.json").unlink()
    return place.records(suite)


def problems(document: Line, suite: str) -> str:
    (file,) = [file for file in document["files"] if file["suite"] == suite]
    return "\n".join(f"{problem['place']}: {problem['message']}" for problem in file["problems"])


def test_one_differing_sample_counts_itself_alone(place: SmallRun) -> None:
    """The other samples of its task are still graded as stored."""
    sample = place.records(SEEDS)[0]
    altered = {"sample": 2, "changes": ["altered"]}
    place.write(SEEDS, [sample, sample | {"sample": 1}, sample | altered])
    _, document = check(place)
    (file,) = [file for file in document["files"] if file["suite"] == SEEDS]
    assert (file["units"], file["verified"]) == (3, 2), file


def test_a_whole_submission_is_taken(place: SmallRun) -> None:
    """It gets a report and a statement of its hashes."""
    passed = [line["outcome"] == "passed" for line in only(place, WHOLE)]
    code, document = check(place, "--markdown", "report.md", "--statement", "statement.json")
    assert (code, document["accepted"], document["listed"]) == (0, True, True)
    (file,) = document["files"]
    assert (file["units"], file["planned"], file["verified"]) == (40, 40, 40)
    assert file["scores"]["pass@1"] == pytest.approx(sum(passed) / 40)
    assert "can be taken" in (place.root / "report.md").read_text()
    statement = json.loads((place.root / "statement.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"].items() >= {"result": "PASSED", "passedTests": [WHOLE]}.items()
    assert len(statement["subject"]) == 1


@pytest.mark.parametrize(
    ("lines", "manifest", "said"),
    [
        (30, {}, "got 30 lines and 0 open: 10 are neither in the file nor open"),
        (30, {"tasks_planned": 30, "profile": "quick"}, "10 are neither"),
        (30, {"tasks_in_suite": 30, "tasks_planned": 30}, "tasks_in_suite: expected 40, got 30"),
        (30, {"open_units": 9}, "got 30 lines and 9 open: 1 are neither"),
        (1, {"tasks_planned": 1}, "got 1 line and 0 open: 39 are neither"),
        (0, {"tasks_planned": 0}, "got 0 lines and 0 open: 40 are neither"),
        (40, {"open_units": 5}, "and 5 open: 5 are too many"),
        (41, {}, "expected 80 units (40 tasks, 2 samples each), got 41 lines"),
    ],
)
def test_units_left_out_are_counted_and_refused(
    place: SmallRun, lines: int, manifest: dict[str, object], said: str
) -> None:
    """Lines and open units are the suite's tasks times the samples; the best of several would be unfair."""
    whole = only(place, WHOLE)
    kept = [*whole, {**whole[0], "sample": 1}][:lines]
    write_results(place, WHOLE, kept, **manifest)
    code, document = check(place, "--statement", "statement.json")
    assert code == 1 and said in problems(document, WHOLE)
    predicate = json.loads((place.root / "statement.json").read_text())["predicate"]
    assert (predicate["result"], predicate["passedTests"]) == ("FAILED", [])


def test_neither_another_python_nor_an_earlier_manifest_is_another_protocol(place: SmallRun) -> None:
    """The hashes decide; of an earlier version's settings those count that stand beside today's hashes."""
    suite = "runtime/core"
    before = problems(check(place)[1], suite)
    settings = place.facts(suite)["settings"]
    questions = settings["questions"] | {"python": "3.99"}
    place.edit_manifest(suite, settings=settings | {"questions": questions}, python_versions=["3.99"])
    assert problems(check(place)[1], suite) == before
    only(place, WHOLE)
    place.edit_manifest(WHOLE, settings={"api": "chat", "max_tokens": 1024, "prompts": {}, "top_p": 1.0})
    assert check(place)[0] == 0


def test_a_judge_is_its_model_and_its_prompt(place: SmallRun) -> None:
    """Its own row says how long it may write, and at which temperature."""
    suite = "loop/core"
    before, settings = problems(check(place)[1], suite), place.facts(suite)["settings"]
    prompt = load_prompts("loop").digest("similarity")
    judge = {"model": "j", "prompt": prompt, "max_tokens": 9, "temperature": 1.0}
    place.edit_manifest(suite, settings=settings | {"judge": judge})
    assert problems(check(place)[1], suite) == before
    place.edit_manifest(suite, settings=settings | {"judge": judge | {"prompt": "0" * 64}})
    assert "settings.judge: expected " in problems(check(place)[1], suite)


def test_open_units_are_taken_without_mark_and_rank(place: SmallRun) -> None:
    """What was not asked may be what failed: the statement passes nothing, and no other one is taken.

    A board reads it as the check's: it has to say what the check says, of engine and open units.
    """
    receipt = place.results / "runs/m/verified.json"
    lines = only(place, WHOLE)[:30]
    write_results(place, WHOLE, lines, open_units=10)
    code, document = check(place, "--markdown", "report.md", "--statement", str(receipt))
    assert (code, document["accepted"]) == (0, True)
    report = (place.root / "report.md").read_text()
    assert "30 of 40 | 30" in report and "accepted without mark and rank: 10 open" in report
    stated = json.loads(receipt.read_text())
    assert stated["predicate"].items() >= {"result": "FAILED", "passedTests": []}.items()
    assert check(place)[0] == 0
    passed = {"result": "PASSED", "passedTests": [WHOLE], "failedTests": []}
    other = [{"name": "triathlon-engine", "annotations": {"version": "999"}}]
    for change in (passed, {"configuration": other}):
        receipt.write_text(json.dumps(stated | {"predicate": stated["predicate"] | change}))
        code, document = check(place)
        assert code == 1 and "expected what this check states" in document["problems"][0]["message"]


NOW: Line = {"requests": 1, "input_tokens": 1, "output_tokens": 50}


def flip_the_verdict(line: Line) -> Line:
    """The outcome and all that says so, as somebody would who wants it to agree with itself."""
    return {"outcome": "failed", "verdict": line["verdict"] | {"outcome": "failed"}}


def edit_the_reply(line: Line) -> Line:
    """Another program in the reply than the one that was judged."""
    return {"reply": line["reply"] | {"text": line["reply"]["text"].replace("return", "return not")}}


@pytest.mark.parametrize(
    ("line", "manifest", "said"),
    [
        (flip_the_verdict, {}, f"expected 'passed' (graded again under Python {HERE}), got 'failed'"),
        (edit_the_reply, {"python_versions": ["3.99"]}, f"Python {HERE}, before under 3.99), got 'passed'"),
        ({}, {"data": {"name": "core", "version": "1", "sha256": "ab" * 32}}, "data.sha256: expected"),
        ({}, {"protocol": "0" * 16}, "protocol: expected"),
        ({}, {"ended": "2999-01-01T00:00:00+00:00"}, "expected a time that has passed"),
        ({}, {"ended": ""}, "expected a run that came to its end"),
        ({}, {"settings": {"graded": {}}}, "settings.api: expected "),
        ({}, {"settings": {"api": "chat", "max_tokens": 9}}, "of a run without `max_tokens` in the row"),
        ({}, {"private": True}, "got those of a private one"),
        ({"usage": NOW | {"requests": 0}}, {}, "usage.requests: expected 1 or more"),
        ({"usage": NOW | {"output_tokens": 10**8}}, {}, "usage.output_tokens: expected"),
        ({"usage": NOW, "seconds": 0.001}, {}, "seconds: expected more"),
        ({"usage": NOW | {"output_tokens": -5}}, {}, "usage.output_tokens: expected a number"),
        ({"seconds": float("nan")}, {}, "seconds: expected a finite number, got nan"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_no_run_of_this_version_gives_is_refused(
    place: SmallRun, line: Line | Callable[[Line], Line], manifest: Line, said: str
) -> None:
    """A verdict, reply, data set, protocol, time or origin; requests, tokens and seconds of no server."""
    first, *rest = place.records(SEEDS)
    fields = line(first) if callable(line) else line
    write_results(place, SEEDS, [first | fields, *rest], **manifest)
    code, document = check(place)
    assert code == 1 and said in problems(document, SEEDS)


def test_an_import_is_named_before_its_lines(place: SmallRun) -> None:
    """Each line lacks requests, which only the first ten problems would say, and that is no remedy."""
    lines = [line | {"usage": NOW | {"requests": 0}} for line in place.records(SEEDS)]
    write_results(place, SEEDS, lines, origin={"format": "evalplus", "file": "f", "sha256": "0"})
    _, document = check(place)
    texts = problems(document, SEEDS)
    assert texts.index("got an import") < texts.index("usage.requests")


@pytest.mark.parametrize("kind", ["a link", "a link to a folder", "a pipe"])
def test_nothing_is_read_through_a_link(place: SmallRun, kind: str) -> None:
    lines = place.lines(SEEDS)
    path = lines.parent if kind == "a link to a folder" else lines
    if kind == "a pipe":
        path.unlink()
        os.mkfifo(path)
    else:
        place.link(path)
    code, document = check(place, "--statement", "statement.json")
    (problem,) = document["problems"]
    assert (code, document["files"], "core/seeds/" in str(document)) == (1, [], False)
    assert problem["place"] == str(path.relative_to(place.results / "runs/m"))
    assert f"expected a file, got {kind.removesuffix(' to a folder')}" in problem["message"]
    assert json.loads((place.root / "statement.json").read_text())["predicate"]["result"] == "FAILED"


def test_wrong_token_counts_are_refused_with_what_to_do(place: SmallRun) -> None:
    """The bounds stand in the message, and the way out of them; a server without counts is no problem."""
    count_tokens(place, SEEDS, lambda _: {"output_tokens": 1, "uncounted": 0})
    text = problems(check(place)[1], SEEDS)
    assert "(0.2 to 30 characters a token), got 2; " in text and "send no `usage`" in text
    count_tokens(place, SEEDS, lambda line: {"output_tokens": 0, "uncounted": line["usage"]["requests"]})
    assert "usage" not in problems(check(place)[1], SEEDS)


def test_keys_strangers_and_own_suites_are_refused(place: SmallRun) -> None:
    """A key is named and not shown, wherever it stands in a prompt; other files and suites do not belong."""
    key = "sk-proj-abcdefgh12345678"
    own = place.results / "runs/m"
    (own / "evolved/core-combine.jsonl").mkdir()
    for stranger in ("evolved/core-combine.jsonl/x.txt", "notes.txt"):
        (own / stranger).write_text("x")
    for path in (place.lines, place.manifest):
        shutil.copy(path(SEEDS), path("loop/mine"))
        shutil.copy(path(SEEDS), path(f"{SEEDS}@temperature-0.9"))
    place.edit(SEEDS, prompt=f"{key} {place.records(SEEDS)[0]['prompt']} {key}")
    code, document = check(place)
    assert code == 1 and key not in json.dumps(document)
    assert f"{SEEDS}.jsonl, line 1: expected no key" in problems(document, SEEDS)
    assert "others cannot grade results of suites of your own" in problems(document, "loop/mine")
    assert "submissions have no settings of your own" in problems(document, f"{SEEDS}@temperature-0.9")
    strangers = [problem["place"] for problem in document["problems"]]
    assert strangers == ["evolved/core-combine.jsonl/x.txt", "notes.txt"]


def test_a_report_has_no_markup_of_a_submission(place: SmallRun) -> None:
    """What a submission's file says stands in the comment as text: no link, no mention, no heading."""
    place.manifest("loop/core").write_text('{"a": "[x](http://evil.example) @everyone\\n# Done"}')
    result = place.call("submit", "check", "results/runs/m", "--markdown", "-")
    place.call("submit", "check", "results/runs/m", "--markdown", "report.md")
    assert (result.exit_code, result.stdout) == (1, (place.root / "report.md").read_text())
    assert result.stdout.startswith("## Submission of `m`") and "grading again" not in result.stdout
    assert "](http" not in result.stdout and "\n# " not in result.stdout
    place.expect("submit check results/runs/m", 1, "submission of m: cannot be taken yet")
    for option in ("--markdown", "--statement"):  # what took long is said, whatever cannot be written
        command = f"submit check results/runs/m {option} results"
        place.expect(command, 2, "submission of m: cannot", "cannot write 'results'")
    for folder in ("results", "nowhere"):
        is_there = "!where no folder is" if folder == "results" else "where no folder is"
        place.expect(f"submit check {folder}", 2, "results/runs/MODEL, got", is_there)
