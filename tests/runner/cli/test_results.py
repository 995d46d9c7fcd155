"""Commands that look at results: verify, results list, archive, compact, diff; also at damaged ones."""

import json
import shutil
from collections.abc import Callable

import pytest

import triathlon_site.cli  # noqa: F401  # adds its commands
from support.import_place import CHECKOUT
from support.model_server import model_server_process
from support.small_run import ROWS, RUN, SmallRun
from triathlon_runner import catalogue
from triathlon_runner.store import ResultsFolder, read_records, recorded_files

SEEDS, LOOP = "evolved/core-seeds", "loop/core"


def test_a_finished_run(finished: SmallRun) -> None:
    """Listed, follows from its evidence, estimated from; run again without a server it leaves every byte."""
    said = (finished.root / "first.txt").read_text()
    assert "6 units finished, 0 open" in said and "USD spent in this run" in said
    rows = {suite: (row["units"], row["open"], row["state"]) for suite, row in finished.listed().items()}
    assert rows == dict.fromkeys((LOOP, "runtime/core", SEEDS), (2, 0, "current"))
    task = finished.records(SEEDS)[0]["task_id"]
    finished.expect("verify", 0, "6 units in 3 files")
    finished.expect(f"verify --suites {SEEDS} --tasks {task}", 0, "1 unit in 1 file")
    finished.expect(f"run --suites {LOOP} --limit 12 --dry-run", 0, "2 units of this model", "USD")
    before = {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()}
    assert finished.expect(f"{RUN} --dry-run", 0).count("done") == 3
    finished.expect(RUN, 0)
    assert {path: path.read_bytes() for path in finished.results.rglob("*") if path.is_file()} == before


def test_archive_outdated(small: SmallRun) -> None:
    """Results of another revision are listed as such, archived when told, and still listed."""
    rows = small.root / "models.yaml"
    rows.write_text(rows.read_text().replace("model: scripted", "model: scripted, revision: v2"))
    states = [row["state"] for row in small.listed().values()]
    assert all(state.startswith("made with another model: revision") for state in states)
    small.expect(f"results archive --outdated --suites {LOOP}", 0)
    assert not small.lines(LOOP).exists()
    states = [row["state"] for row in small.listed("--no-check").values()]
    assert len(states) == 3 and sum(state.startswith("archived") for state in states) == 1


@pytest.mark.parametrize("suite", [LOOP, SEEDS, "runtime/core"])
def test_results_without_texts(small: SmallRun, suite: str) -> None:
    """What is kept of a verified file gives the same scores and holds no text; its receipt says from what."""
    small.expect(f"results compact --suites {suite}", 0)
    (kept,) = recorded_files(small.results)
    (entry,) = catalogue.select([suite])
    whole = list(read_records(small.lines(suite), entry.record))
    for metric in entry.metrics:
        assert metric.score(kept.read()) == pytest.approx(metric.score(whole), nan_ok=True), metric.id
    receipt = kept.read_manifest().receipt
    assert (receipt.measured_here, receipt.compared, receipt.equal) == (True, 2, 2)
    assert not any(word in kept.lines.read_text() for word in ("def ", "reply", "prompt"))
    small.expect("verify", 0)


def test_no_text_is_left_out_beside_a_run(small: SmallRun) -> None:
    """While a run writes a model's results its manifests are not those of its lines: the model is refused."""
    with ResultsFolder(small.results).locked("m"):
        small.expect(f"results compact --suites {SEEDS}", 2, "another triathlon run is writing")
    assert not list(recorded_files(small.results))


def test_no_text_is_left_out_of_an_unfinished_run(small: SmallRun) -> None:
    """Its manifest counts what there was when it began, so that nothing would read what was kept."""
    small.edit_manifest(SEEDS, ended="", outcomes={}, open_units=2)
    code, said = small.says("results", "compact", "--suites", SEEDS)
    assert code == 1 and "not kept: run it to its end" in said
    assert not list(recorded_files(small.results))


def test_diff(small: SmallRun, finished: SmallRun) -> None:
    diff = f"results diff {finished.results} results"
    small.expect(diff, 0, "0 differences")
    first = finished.records(LOOP)[0]
    small.edit(LOOP, outcome="refused")
    small.expect(diff, 1, "→ refused", "1 unit differs")
    (change,) = json.loads(small.call(*diff.split(), "--json").stdout)["files"][f"m {LOOP}"]
    assert (change["task_id"], change["sample"]) == (first["task_id"], 0)
    assert change["before"].startswith(first["outcome"]) and change["after"].startswith("refused")
    small.edit(LOOP, outcome=first["outcome"], sustained_loops=4)
    small.expect(diff, 1, " after 4 loops")
    small.write(LOOP, finished.records(LOOP))
    small.edit("runtime/core", output=finished.records("runtime/core")[0]["output"] | {"outcome": "passed"})
    small.expect(diff, 1, "(wrong: answer 1, ")
    small.write(LOOP, finished.records(LOOP)[:1])
    small.expect(diff, 1, f", only in {finished.results}")


def test_a_base_models_lines_follow_without_a_manifest(small: SmallRun) -> None:
    """Its kind stands in the manifest: its prompts were taken for changed ones of an instruct model."""
    committed = (CHECKOUT / f"results/runs/gemma-3-270m/{SEEDS}.jsonl").read_text().splitlines()[:3]
    small.write(SEEDS, [json.loads(line) | {"model": "m"} for line in committed])
    small.manifest(SEEDS).unlink()
    small.expect(VERIFY, 1, "3/3 units, could not be checked", "no manifest beside")


LINES = f"results/runs/m/{SEEDS}.jsonl"
VERIFY = f"verify --suites {SEEDS}"
ARCHIVE = f"`triathlon results archive --models m --suites {SEEDS}`"
OTHER = "0" * 16
Damage = Callable[[SmallRun], object]


def nothing(small: SmallRun) -> None: ...


def edited(suite: str = SEEDS, **fields: object) -> Damage:
    return lambda small: small.edit(suite, **fields)


def counted(**fields: object) -> Damage:
    return lambda small: small.edit_manifest(SEEDS, **fields)


def rewritten(edit: Callable[[str, str], str]) -> Damage:
    return lambda small: small.lines(SEEDS).write_text(edit(*small.lines(SEEDS).read_text().splitlines()))


def rows(before: str, after: str) -> Damage:
    text = ROWS.format(url="http://127.0.0.1:9/v1").replace(before, after)
    return lambda small: (small.root / "models.yaml").write_text(text)


def of_another_protocol(small: SmallRun) -> None:
    small.write(SEEDS, [record | {"protocol": OTHER} for record in small.records(SEEDS)])
    small.edit_manifest(SEEDS, protocol=OTHER)


def altered_and_broken(small: SmallRun) -> None:
    small.edit(SEEDS, outcome="refused")
    small.lines(SEEDS).write_text(small.lines(SEEDS).read_text() + "\n{\n")


def lost_line(small: SmallRun) -> None:
    small.edit_manifest(SEEDS, ended="", open_units=3)
    small.write(SEEDS, small.records(SEEDS)[:1])


def no_manifest(small: SmallRun) -> None:
    small.manifest(SEEDS).unlink()


def a_link(small: SmallRun) -> None:
    small.link(small.lines(SEEDS))


def a_linked_folder(small: SmallRun) -> None:
    small.link(small.results / "runs/m")


def a_folder(small: SmallRun) -> None:
    small.lines(SEEDS).unlink()
    small.lines(SEEDS).mkdir()


def a_file_as_folder(small: SmallRun) -> None:
    shutil.rmtree(small.lines(SEEDS).parent)
    small.lines(SEEDS).parent.write_text("")


ALTERED, NONSENSE = edited(outcome="refused"), rewritten(lambda first, _: f"{first}\nnonsense\n")
NONSENSES = rewritten(lambda first, second: f"{first}\nnonsense\n{second}\n[]\n{{}}\n")
TORN = rewritten(lambda first, second: f'{first}\n{second}\n{{"schema":1,"suite"')
AS_PASSED, AS_SEVEN = edited("runtime/core", outcome="passed"), edited(LOOP, sustained_loops=7)
NAMED = (
    f"{LINES}, line 2: expected a JSON object, got 'nonsense'; delete the line, and the next run makes its"
    " unit again: replies in the cache are graded again"
)
GRADED = "stored 'refused', graded again 'passed'"
NOT_GRADED = f"not graded again: {LINES}, line"
CASES: list[tuple[Damage, str, int, tuple[str, ...]]] = [
    (edited(outcome="timed_out"), VERIFY, 1, ("stored 'timed_out', graded again 'passed'", "!manifest")),
    (edited(program="def f(): pass"), VERIFY, 1, ("program: stored",)),
    (AS_SEVEN, f"verify --suites {LOOP}", 1, ("sustained_loops: stored 7",)),
    (AS_PASSED, "verify --suites runtime/core", 1, ("outcome: stored 'passed'",)),
    (edited(task_id="nobody/0"), VERIFY, 1, ("the suite has no such task",)),
    (edited(protocol=OTHER), VERIFY, 1, ("another protocol",)),
    (counted(outcomes={"failed": 9}), VERIFY, 1, ("the manifest counts {'failed': 9}, its lines {",)),
    (counted(protocol=OTHER), VERIFY, 1, ("DOES NOT FOLLOW", "manifest protocol: the manifest has")),
    (of_another_protocol, VERIFY, 1, ("could not be checked", "results archive --outdated", "!NOT FOLLOW")),
    (altered_and_broken, VERIFY, 1, (f"m {SEEDS}: 2/4 units, DOES NOT FOLLOW", f"outcome: {GRADED}")),
    (altered_and_broken, VERIFY, 1, (f"{NOT_GRADED} 3: expected a JSON object, got ''; delete",)),
    (altered_and_broken, VERIFY, 1, (f"{NOT_GRADED} 4: expected a JSON object, got '{{'; delete",)),
    (ALTERED, RUN, 2, (f"{LINES}, line 1: outcome: 'refused', but its verdict says 'passed'", "1 open")),
    (ALTERED, "scores", 0, ("A score with open units", "has no rank", "does not count")),
    *((a_folder, command, 2, ("core-seeds.jsonl",)) for command in ("results list", "verify")),
    *(
        (damage, command, 2, (f"expected a plain file of results at '{LINES}', got {what}",))
        for damage, what in ((a_link, "a link"), (a_linked_folder, "a link"), (a_folder, "a folder"))
        for command in ("results list", f"run --suites {SEEDS} --limit 2")
    ),
    (a_folder, "results diff results results", 2, ("core-seeds.jsonl",)),
    (nothing, f"results diff {LINES} results/runs/m/{LOOP}.jsonl", 2, (f"'{SEEDS}' and '{LOOP}'",)),
    (nothing, "cache prune --model nope", 2, ("unknown model 'nope'; known are: m",)),
    (nothing, "cache prune", 2, ("got neither",)),
    (nothing, "cache prune --model m --max-megabytes 0", 2, ("got both",)),  # it emptied the cache of all
    (nothing, f"{RUN} --samples 10001", 2, ("10000",)),
    *(
        (nothing, f"results diff {folder} {folder}", 2, ("runs/MODEL/SUITE.jsonl", f"'{folder}'"))
        for folder in ("results/runs", "results/runs/m")
    ),
    (nothing, "results archive", 2, ("--models, --suites or --outdated",)),
    (nothing, "results archive --models nobody", 2, ("unknown model 'nobody'; known are: m",)),
    *(
        (nothing, f"results list --results {path}", 2, (f"expected a folder of results at '{path}'",))
        for path in ("none", "models.yaml")
    ),
    (counted(outcomes={"passed": 9}), "results list", 0, ("its manifest counts 9 units; `triathlon run`",)),
    (counted(outcomes={"passed": 1}), "results list", 0, ("its manifest counts 1 unit", "!makes what is")),
    (edited(outcome="timed_out"), f"results compact --suites {SEEDS}", 1, ("DOES NOT FOLLOW",)),
    (nothing, "verify --tasks nobody/0", 2, ("expected ids of tasks with stored results, got 'nobody/0'",)),
    (nothing, "verify --prompts none", 2, ("--prompts expects a folder; 'none' is none", "!not checked")),
    (rows("price: {input: 1, output: 2}", ""), f"{RUN} --budget 5", 2, ("--budget needs the price of 'm'",)),
]
SLOW: list[tuple[Damage, str, int, tuple[str, ...]]] = [
    (TORN, "verify", 0, ("cut before its end",)),
    (TORN, "results list", 0, ("cut before its end; `triathlon run`", " 2 ", "! 3 ")),
    (TORN, RUN, 0, (f"'{LINES}' ended in half a line", f"moved to '{LINES}.torn'")),
    (lost_line, VERIFY, 1, ("manifest units: the manifest counts 2 units or more, its lines 1 unit",)),
    (no_manifest, RUN, 0, (f"no manifest beside '{LINES}'", "`triathlon run` counts them", ARCHIVE)),
    (no_manifest, "results list", 0, (f"no manifest beside '{LINES}'", ARCHIVE, "!current, no manifest")),
    (a_file_as_folder, RUN, 2, ("cannot open", "core-seeds.jsonl")),
    *(
        (rows("id: m", "id: other"), f"verify {option}", 2, (said,))
        for option, said in (
            ("--suites loop/mbpp-plus", "no results of suite 'loop/mbpp-plus' here; `triathlon run`"),
            ("--models other", "no results of model 'other' here; `triathlon run`"),
            ("--models n", "unknown model 'n'; known are: m"),
        )
    ),
    *(
        (NONSENSE, command, 2, (NAMED,))
        for command in ("results diff results results", RUN, "build --strict")
    ),
    (NONSENSE, f"{RUN} --dry-run", 2, (NAMED,)),
    (NONSENSE, VERIFY, 1, (NAMED,)),
    *((NONSENSE, command, 0, (NAMED,)) for command in ("results list", "scores", "build")),
    *(
        (NONSENSES, command, code, ("line 2: expected a JSON object", "2 further lines with a fault: 4, 5"))
        for command, code in (("results list", 0), (RUN, 2))
    ),
]


@pytest.mark.parametrize(
    ("damage", "command", "code", "said"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)],
)
def test_every_command_says_what_is_wrong(
    small: SmallRun, damage: Damage, command: str, code: int, said: tuple[str, ...]
) -> None:
    """File, line, what was expected, what came and what to do; nothing is silently left out or kept."""
    damage(small)
    before = small.lines(SEEDS).read_bytes() if small.lines(SEEDS).is_file() else b""
    small.expect(command, code, "!Traceback", *said)
    assert not list(recorded_files(small.results))
    assert damage is TORN or not before or small.lines(SEEDS).read_bytes() == before


def test_the_advice_holds(small: SmallRun) -> None:
    """Without the line its unit is made again from the reply in the cache, where the server is there."""
    outcome = small.records(SEEDS)[0]["outcome"]
    small.write(SEEDS, small.records(SEEDS)[1:])
    with model_server_process("support.core_model:answer") as url:
        (small.root / "models.yaml").write_text(ROWS.format(url=url))
        small.expect(RUN, 0, "1 unit finished, 0 open")
    assert small.records(SEEDS)[0]["outcome"] == outcome


def test_lines_of_another_model_are_not_counted(small: SmallRun) -> None:
    """A folder that was copied is no result of the model whose name it got, also without its manifests."""
    rows("id: m", "id: copy")(small)
    (small.results / "runs/m").rename(small.results / "runs/copy")
    (small.results / "runs/copy/loop/core.manifest.json").unlink()
    of_m = "lines of m loop/core"
    small.expect("run --models copy --suites loop/core --limit 2", 0, f"another model or suite: {of_m}")
    lines = "expected a line of copy loop/core, got one of m loop/core"
    small.expect("verify --models copy --suites loop/core", 1, "!nan", lines)
