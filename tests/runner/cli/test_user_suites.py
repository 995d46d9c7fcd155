"""suites.yaml: data sets of the user's own in every command."""

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from support import core_model
from support.import_place import write_lines
from support.model_server import model_server_process
from support.scripted_evolver import fenced
from support.server_replies import Asked
from support.small_run import SmallRun
from triathlon_runner.runtime import read_questions
from triathlon_runner.schedule import _checks

MARKER: Final = "confidential-7f3a"
"""Stands in every problem and in every reply."""
SLUG: Final = {
    "task_id": "mine/slug",
    "entry_point": "slug",
    "prompt": f'def slug(title):\n    """Words of a title, joined by hyphens ({MARKER}).\n\n'
    "    >>> slug('Big  News')\n    'big-news'\n    \"\"\"\n",
    "canonical_solution": "    text = ''\n    for word in title.lower().split():\n        if text:\n"
    "            text += '-'\n        text += word\n    return text\n",
    "test": "def check(candidate):\n    assert candidate('Big  News') == 'big-news'\n"
    "    assert candidate('') == ''\n    assert candidate('One') == 'one'\n",
}
"""As HumanEval."""
TOTAL: Final = {
    "task_id": "mine/total",
    "entry_point": "total",
    "prompt": f'def total(prices):\n    """Sum; what is above 100 counts half ({MARKER}).\n\n'
    '    >>> total([50, 200])\n    150\n    """\n',
    "canonical_solution": "    result = 0\n    for price in prices:\n        if price > 100:\n"
    "            price = price // 2\n        result += price\n    return result\n",
    "base_input": [[[50, 200]], [[]], [[10, 20, 30]]],
}
"""As EvalPlus."""
RUNS: Final = {
    "task_id": 17,
    "text": f"Write a function runs that counts the runs of equal items ({MARKER}).",
    "code": "def runs(items):\n    count = 0\n    last = None\n    for item in items:\n"
    "        if item != last:\n            count += 1\n        last = item\n    return count\n",
    "test_list": ["assert runs([1, 1, 2]) == 2", "assert runs([]) == 0"],
}
"""As MBPP."""
PROBLEMS: Final = (SLUG, TOTAL, RUNS)
PROGRAMS: Final = {
    "slug": f"{SLUG['prompt']}{SLUG['canonical_solution']}",
    "total": f"{TOTAL['prompt']}{TOTAL['canonical_solution']}",
    "runs": str(RUNS["code"]),
}
ROW: Final = "- {id: mine, title: My functions, problems: mine.jsonl}\n"
PRIVATE: Final = ROW.replace("}", ", private: true}")
SUITES: Final = "loop/mine,runtime/mine,evolved/mine"
RUN: Final = f"run --suites {SUITES} --profile standard"
MODELS = """
models:
  - {{id: good, api: {{base_url: "{url}", model: good}}}}
  - {{id: worse, api: {{base_url: "{url}", model: worse}}}}
"""


def answer(asked: Asked) -> str:
    """Rewords a problem that is to be evolved, else says a reference; `worse` says that of `slug` alone."""
    if "Rules for the problem:" in asked.prompt:
        problem = next(one for one in (SLUG, TOTAL) if f"def {one['entry_point']}(" in asked.prompt)
        return fenced(str(problem["prompt"]).replace('"""', '"""To put it in other words: ', 1))
    is_right = asked.body["model"] != "worse" or core_model.name_in(asked.prompt, PROGRAMS) == "slug"
    roll = core_model.RIGHT if is_right else core_model.WRONG
    return f"{MARKER}\n{core_model.said(asked.prompt, PROGRAMS, roll)}"


class UserPlace(SmallRun):
    """A folder with models.yaml, suites.yaml and problems."""

    def site(self) -> dict[str, str]:
        self.expect("build", 0)
        files = [path for path in (self.root / "_site").rglob("*") if path.is_file()]
        return {path.relative_to(self.root / "_site").as_posix(): _text(path) for path in files}


def _text(path: Path) -> str:
    """The file's text; of a packed one what is in it."""
    content = path.read_bytes()
    if content.startswith(b"triathlonPack("):
        content = gzip.decompress(base64.b64decode(content.split(b'"')[1]))
    elif path.suffix == ".gz":
        content = gzip.decompress(content)
    return content.decode("utf-8", "replace")


def made(root: Path, url: str) -> UserPlace:
    (root / "models.yaml").write_text(MODELS.format(url=url))
    (root / "suites.yaml").write_text(ROW)
    write_lines(root / "mine.jsonl", *PROBLEMS)
    return UserPlace(root)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with model_server_process("runner.cli.test_user_suites:answer") as url:
        yield url


@pytest.fixture
def place(tmp_path: Path, server: str) -> UserPlace:
    return made(tmp_path, server)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, server: str) -> UserPlace:
    """A finished run of both models on all three suites; to be looked at."""
    place = made(tmp_path_factory.mktemp("finished"), server)
    place.expect(RUN, 0)
    return place


@pytest.mark.slow
def test_a_data_set_is_a_suite_in_three_disciplines(place: UserPlace) -> None:
    """`suites` lists them with their variants; a run that names none asks them beside its profile's."""
    listed = {row["id"]: row for row in place.json("suites --variants")}
    assert set(SUITES.split(",")) | {"loop/mine@attack-upper", "runtime/mine@cot"} <= set(listed)
    assert listed["loop/mine"]["title"] == "Loop on My functions"
    counts = ("loop/mine 3 3", "evolved/mine 2 2", "runtime/mine", "loop/core")
    place.expect("run --models good --dry-run", 0, *counts)


def test_runs_are_graded_resumed_and_verified(finished: UserPlace) -> None:
    """Verdicts are right in every discipline; a second run asks nothing; `verify` finds all as stored."""
    outcomes = {
        model: {line["task_id"]: line["outcome"] for line in finished.records("evolved/mine", model)}
        for model in ("good", "worse")
    }
    assert set(outcomes["good"].values()) == {"passed"}
    assert outcomes["worse"] == {"mine/slug": "passed", "mine/total": "failed", "Mbpp/17": "failed"}
    assert {line["sustained_loops"] for line in finished.records("loop/mine", "good")} == {10}
    questions = {str(line["task_id"]).partition("#")[0] for line in finished.records("runtime/mine", "good")}
    assert questions == {"mine/slug", "mine/total", "Mbpp/17"}
    before = finished.records("loop/mine", "good")
    finished.expect(RUN, 0)
    assert finished.records("loop/mine", "good") == before
    verified = finished.json("verify")
    assert verified["follows"] and len(verified["files"]) == 6


def test_a_changed_file_is_another_data_set(finished: UserPlace) -> None:
    """The manifest has the file's hash; lines of the old file are not mixed with those of the new one."""
    sha256 = finished.facts("evolved/mine", "good")["data"]["sha256"]
    assert len(sha256) == 64
    write_lines(finished.root / "mine.jsonl", SLUG, TOTAL)
    try:
        finished.expect(f"{RUN} --models good", 0, f"asked.data was '{sha256[:12]}', is")
    finally:
        write_lines(finished.root / "mine.jsonl", *PROBLEMS)


def test_results_on_the_present_file_rank(place: UserPlace, server: str) -> None:
    """Those on another version stand apart, however many they are; a build names them, and how to go on."""
    place.expect("run --suites evolved/mine", 0)
    place.site()
    write_lines(place.root / "mine.jsonl", *reversed(PROBLEMS))
    place.expect("build", 0, "worse/evolved/mine.jsonl: suites.yaml names other problems than these now")
    place.expect(f"run --suites evolved/mine --model new --base-url {server}", 0)
    rows = json.loads(place.site()["data/evolved-mine.json"])["rows"]
    assert {row["model"]: row["other_protocol"] for row in rows} == {
        "new": False,
        "good": True,
        "worse": True,
    }
    write_lines(place.root / "mine.jsonl", *PROBLEMS)
    command = "results archive --models new --suites evolved/mine"  # whose model is not in models.yaml
    place.expect("build --strict", 2, f"`triathlon {command}` puts it aside")
    place.expect(command, 0, "1 results file archived")
    place.expect("build --strict", 0)


def test_the_site_has_boards_of_their_own(finished: UserPlace) -> None:
    """A board a discipline with the data set's title, and an overall order; evidence shows the texts."""
    site = finished.site()
    for name in ("loop-mine", "runtime-mine", "evolved-mine"):
        assert "My functions" in site[f"{name}.html"] and "good" in site[f"{name}.html"]
    assert "five changed sets" not in site["evolved-mine.html"]
    assert "the data sets of suites.yaml" in " ".join(site["index.html"].split())
    assert json.loads(site["data/overall-added.json"])["family"] == "added"
    assert MARKER in site["data/runs/good/evolved-mine.jsonl.gz"]
    assert MARKER in site["evidence/good/evolved-mine/1.js"]


def leaks(site: dict[str, str]) -> list[str]:
    return [name for name, text in site.items() if MARKER in text]


def test_private_texts_stay_out_of_the_site(finished: UserPlace) -> None:
    """No word of tasks and replies is there, nor of a torn line, which may begin with a task's."""
    finished.site()
    lines = finished.lines("evolved/mine", "good")
    text = lines.read_text()
    (finished.root / "suites.yaml").write_text(PRIVATE)
    try:
        site = finished.site()
        lines.write_text(text.replace(MARKER, f"\n{MARKER}", 1))
        torn = finished.site()
    finally:
        lines.write_text(text)
        (finished.root / "suites.yaml").write_text(ROW)
    assert leaks(site) == leaks(torn) == []
    assert "evolved-mine.html" in site and "mine/slug" in site["evidence/good/evolved-mine.html"]
    notices = json.loads(torn["data/notices.json"])["notices"]
    assert [notice["line"] for notice in notices] == [1, 2]
    assert all("`triathlon verify` says it" in notice["message"] for notice in notices)


@pytest.mark.parametrize("is_known", [True, False], ids=["manifest", "nothing"])
def test_private_texts_stay_out_without_the_suites_file(place: UserPlace, is_known: bool) -> None:
    """The manifest says that a run was private; where nothing says whether it was, no text is shown."""
    (place.root / "suites.yaml").write_text(PRIVATE if is_known else ROW)
    place.expect("run --models good --suites runtime/mine --limit 1", 0)
    (place.root / "suites.yaml").unlink()
    if not is_known:
        assert leaks(place.site())
        place.manifest("runtime/mine", "good").unlink()
    site = place.site()
    assert "runtime-mine.html" in site and leaks(site) == []


def test_a_gate_takes_them(finished: UserPlace) -> None:
    report = finished.json("gate --baseline good --candidate worse --suites evolved/mine", 3)
    assert {lost["task_id"] for lost in report["lost"]} == {"mine/total", "Mbpp/17"}


REFUSED = json.loads(Path(__file__).with_name("refused_problems.json").read_text())
KNOWN: dict[str, dict[str, Any]] = {"slug": SLUG, "total": TOTAL, "runs": RUNS, "": {}}


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["says"])
def test_problems_that_cannot_judge_are_refused(place: UserPlace, case: dict[str, Any]) -> None:
    """By name, with file and line, before a model is asked anything; exit code 2."""
    write_lines(place.root / "mine.jsonl", RUNS, KNOWN[case["like"]] | case["changes"])
    place.expect("run --models good --suites evolved/mine", 2, case["says"])
    assert not (place.results / "runs/good").exists()


def test_a_reference_that_takes_long_is_named(place: UserPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that never ends is given up after ten minutes: until then it is said what is waited for."""
    monkeypatch.setattr(_checks, "_PROGRESS_SECONDS", 0.05)
    slow = {**TOTAL, "canonical_solution": f"    sum(range(3 * 10 ** 7))\n{TOTAL['canonical_solution']}"}
    write_lines(place.root / "mine.jsonl", SLUG, slow)
    waits = "each for at most 10 min of CPU time; not ended: mine.jsonl, line"
    place.expect("run --suites evolved/mine --dry-run", 0, waits, "line 2, task 'mine/total'")


def test_a_named_suite_without_tasks_is_said(place: UserPlace) -> None:
    """As any named suite that cannot run here: exit code 2."""
    constant = {**TOTAL, "canonical_solution": "    return 1\n", "prompt": "def total(prices):\n"}
    write_lines(place.root / "mine.jsonl", constant)
    unusable = "suite 'runtime/mine' was named and cannot run here: no task could be made"
    place.expect("run --models good --suites runtime/mine", 2, unusable)


def test_the_loop_wants_an_example(place: UserPlace) -> None:
    """Without one a second loop could not know the function's name; runtime and evolved need none."""
    write_lines(place.root / "mine.jsonl", {**TOTAL, "prompt": "def total(prices):\n"})
    expected = "mine.jsonl, line 1, task 'mine/total': the loop expects an example"
    place.expect(f"{RUN} --models good", 2, expected)
    place.expect("run --models good --suites evolved/mine,runtime/mine", 0)


WRONG = {**SLUG, "canonical_solution": "    return title\n"}
NO_INPUTS = {**SLUG, "test": "def check(candidate):\n    assert candidate(str(1)) == '1'\n"}
NAMES = {"slug": "mine/slug", "total": "mine/total", "runs": "Mbpp/17"}


@pytest.mark.parametrize("row", [ROW, PRIVATE], ids=["public", "private"])
def test_logs_are_imported_into_them(place: UserPlace, row: str) -> None:
    """Judged by the user's problems; of a private data set no text of a task or program is on the site."""
    (place.root / "suites.yaml").write_text(row)
    programs = {**PROGRAMS, "total": f"def total(prices):\n    return '{MARKER}'\n"}
    samples = ({"task_id": NAMES[name], "solution": text} for name, text in programs.items())
    write_lines(place.root / "samples.jsonl", *samples)
    place.expect("import evalplus samples.jsonl --suite evolved/mine --model theirs", 0)
    lines = place.results / "imported/runs/theirs/evolved/mine.jsonl"
    stored = map(json.loads, lines.read_text().splitlines())
    outcomes = {line["task_id"]: line["outcome"] for line in stored}
    assert outcomes == {"mine/slug": "passed", "mine/total": "failed", "Mbpp/17": "passed"}
    assert place.json("verify")["follows"]
    site = place.site()
    assert "theirs" in site["imported.html"]
    write_lines(place.root / "mine.jsonl", SLUG, TOTAL)
    place.expect("verify", 1, "could not be checked", "an imported log is imported again", "!NOT FOLLOW")
    if row == PRIVATE:
        assert json.loads(lines.with_suffix(".manifest.json").read_text())["private"] is True
        assert leaks(site) == []


def test_questions_are_built_of_them(place: UserPlace) -> None:
    """References are checked first; results of the file are verified where it is named.

    No file is written of private ones, which would hold their functions.
    """
    build = "questions build --dataset mine --out questions.json"
    (place.root / "suites.yaml").write_text(PRIVATE)
    refusal = "suites.yaml, line 1: expected a data set whose texts may be handed on, got 'mine'"
    place.expect(build, 2, refusal, "triathlon run --suites runtime/mine")
    assert not (place.root / "questions.json").exists()
    (place.root / "suites.yaml").write_text(ROW)
    place.expect(build, 0)
    written = read_questions(place.root / "questions.json")
    assert {program.task_id for program in written.programs} == set(NAMES.values())
    place.expect("run --models good --suites questions.json@cot", 0)
    unknown = "unknown suite 'runtime/questions@cot': if its questions came from a file, name that"
    place.expect("verify", 1, unknown, "could not be checked", "!NOT FOLLOW")
    place.expect("verify --suites questions.json@cot", 0, "units, follows")
    write_lines(place.root / "mine.jsonl", WRONG)
    place.expect(build, 2, "line 1, task 'mine/slug': expected a reference that passes its own tests")


def test_what_was_evolved_from_them_shares_their_board(place: UserPlace) -> None:
    """What is no function is left out; the mean over both sets ranks; private seeds make a private set."""
    (place.root / "suites.yaml").write_text(PRIVATE)
    evolve = "evolve --model good --out new --seeds evolved/mine --transformations verbose"
    left_out = "left out: Mbpp/17: a seed needs a prompt with a function that has parameters"
    place.expect(f"{evolve} --dry-run", 0, left_out, "2 problems to evolve")
    said = place.expect(evolve, 0, "2/2 evolved, 0 dropped, 0 open")
    (row,) = (line for line in said.splitlines() if line.startswith("- {"))
    assert row.endswith('private: true, seeds: "evolved/mine", transformation: "verbose"}')
    file = place.root / "new" / "verbose.jsonl"
    file.write_text(file.read_text().replace('"accepted": null', '"accepted": true'))
    (place.root / "suites.yaml").write_text(f"{ROW}{row}\n")
    suites = "evolved/mine,evolved/mine-verbose"
    place.expect(f"run --models good --suites {suites} --profile standard", 0)
    page = place.site()["evolved-mine.html"]
    assert "Mean pass@1" in page and "mine verbose" in page
    assert "What other words and helpers change" in page
    parents = [line["parents"] for line in place.records("evolved/mine-verbose", "good")]
    assert sorted(map(str, parents)) == ["['mine/slug']", "['mine/total']"]


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (RUNS, "expected problems in 'evolved/mine' that can be evolved, got none left out: Mbpp/17"),
        (WRONG, "line 1, task 'mine/slug': expected a reference that passes its own tests"),
        (NO_INPUTS, "mine/slug: a seed needs a prompt with a function"),
    ],
)
def test_what_cannot_be_evolved_is_refused(
    place: UserPlace, problem: dict[str, object], message: str
) -> None:
    """Before a model is asked: exit code 2, naming the problem, or what suites.yaml takes as no `seeds:`."""
    write_lines(place.root / "mine.jsonl", problem)
    evolve = "evolve --model good --out new --dry-run --seeds"
    place.expect(f"{evolve} evolved/mine", 2, message)
    place.expect(f"{evolve} loop/mine", 2, "at --seeds, got 'loop/mine'")
