"""The loop through the real runner and a loopback server: models and judges as they may behave."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.asl import Interval, asl
from support.loop_fakes import ADD, RIGHT, is_summary
from support.loop_run import SUITE, LoopRun, asks_for_words, programmer, right, until, wrong
from support.model_server import ModelServer, Script
from support.server_replies import Asked
from triathlon_runner import loop
from triathlon_runner.errors import UserError
from triathlon_runner.records import LoopRecord, Outcome
from triathlon_runner.store import ResultsFolder, read_records


async def test_a_model_that_never_fails(tmp_path: Path) -> None:
    """Ten programs and nine sentences a task, each program executed; an ASL of 10 needs no judge."""
    async with ModelServer(programmer(right)) as server:
        run = LoopRun(tmp_path, server.base_url)
        assert (await run()).exit_code == 0
        assert server.count == 2 * 19
    records = run.records()
    assert [(record.sustained_loops, record.outcome) for record in records] == [(10, Outcome.PASSED)] * 2
    assert all(step.verdict and step.verdict.passed > 5 for record in records for step in record.loops)
    assert asl(records) == Interval(10.0, 10.0)


async def test_a_model_at_its_fixed_point(tmp_path: Path) -> None:
    """Equal questions of different loops each reach the server, though replies are kept."""
    async with ModelServer(lambda a: "Write add." if is_summary(a.prompt) else RIGHT) as server:
        run = LoopRun(tmp_path, server.base_url, problems=[ADD])
        await run()
        assert server.count == 19
        assert len({asked.prompt for asked in server.requests}) == 3
    assert [record.sustained_loops for record in run.records()] == [10]


async def test_a_judge_that_answers_well(tmp_path: Path) -> None:
    """It sees prompts and programs of both sides of each failure; its number makes ASL a point."""
    async with (
        ModelServer(programmer(until(2, wrong))) as server,
        ModelServer(lambda asked: "0.25") as judge,
    ):
        run = LoopRun(tmp_path, server.base_url, judge.base_url)
        assert (await run()).exit_code == 0
    questions = [asked.prompt for asked in judge.requests]
    for record in run.records():
        shown = [part.strip() for step in record.loops[-2:] for part in (step.prompt, step.program)]
        assert sum(all(part in question for part in shown) for question in questions) == 1
        assert (record.sustained_loops, record.similarity) == (2, 0.25)
    assert asl(run.records()).low == pytest.approx(2**2 * (1 + 0.25) / 2 / 10)
    assert asl(run.records()).low == asl(run.records()).high


def hanging_in_loop_6() -> tuple[Script, asyncio.Event]:
    """A model that never fails, silent at the eleventh question of the first run; when that came."""
    reached = asyncio.Event()

    async def say(asked: Asked) -> str:
        if asked.number == 10:
            reached.set()
            await asyncio.sleep(60)
        return programmer(right)(asked)

    return say, reached


async def test_a_run_stopped_in_loop_6(tmp_path: Path) -> None:
    """The next run asks only for what was in flight, and its lines are those of an undisturbed run."""
    hang, reached = hanging_in_loop_6()
    async with ModelServer(hang) as server:
        run = LoopRun(tmp_path / "stopped", server.base_url, tasks=1)
        first = asyncio.create_task(run())
        await reached.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        assert run.records() == []
        assert (await run()).exit_code == 0
        assert server.count == 11 + 9
    async with ModelServer(programmer(right)) as server:
        whole = LoopRun(tmp_path / "whole", server.base_url, tasks=1)
        await whole()
    assert _timeless(run.records()) == _timeless(whole.records())


@pytest.mark.slow
async def test_a_command_killed_in_loop_6(tmp_path: Path) -> None:
    """`kill -9` loses nothing that was answered: the next run asks what was in flight and goes on."""
    hang, reached = hanging_in_loop_6()
    async with ModelServer(hang) as server:
        killed = _command(tmp_path, server.base_url)
        await asyncio.wait_for(reached.wait(), 60)
        os.killpg(killed.pid, signal.SIGKILL)
        assert await asyncio.to_thread(killed.wait) == -signal.SIGKILL
        again = _command(tmp_path, server.base_url)
        assert await asyncio.to_thread(again.wait) == 0
        assert server.count == 11 + 9
    (record,) = read_records(ResultsFolder(tmp_path / "results").lines("m", SUITE), LoopRecord)
    assert record.sustained_loops == 10


async def test_prompts_of_a_user(tmp_path: Path) -> None:
    """`--prompts` reaches the model, and lines that other prompts made are kept apart, not mixed or lost."""
    mine = tmp_path / "mine"
    (mine / "loop").mkdir(parents=True)
    (mine / "loop" / "generate.txt").write_text("{{ task }}\nMY WORDS\n")
    async with ModelServer(programmer(until(1, wrong))) as server:
        ours = LoopRun(tmp_path / "ours", server.base_url)
        await ours()
        assert not any("MY WORDS" in asked.prompt for asked in server.requests)
        theirs = LoopRun(tmp_path / "theirs", server.base_url, prompts=mine)
        asked_before = server.count
        await theirs()
        programs = [a.prompt for a in server.requests[asked_before:] if not is_summary(a.prompt)]
        assert len(programs) == 4
        assert all(text.endswith("MY WORDS") for text in programs)
        assert ours.manifest().protocol != theirs.manifest().protocol
        mixed = await LoopRun(tmp_path / "ours", server.base_url, prompts=mine)()
    assert list(mixed.other_protocol) == [f"m {SUITE}"]
    assert {record.protocol for record in ours.records()} == {ours.manifest().protocol}


async def test_broken_prompts_cost_nothing(tmp_path: Path) -> None:
    """A set that cannot work is refused before the first question."""
    mine = tmp_path / "mine"
    (mine / "loop").mkdir(parents=True)
    (mine / "loop" / "generate.txt").write_text("{{ tsak }}")
    async with ModelServer(programmer(right)) as server:
        with pytest.raises(UserError, match=r"generate\.txt.*'tsak'.*task"):
            await LoopRun(tmp_path, server.base_url, prompts=mine)()
        assert server.count == 0


async def test_variants_beside_their_baseline(tmp_path: Path) -> None:
    """Five summary prompts, four temperatures and three attacks, each with its own lines and protocol.

    What two of them ask alike, such as the first program, is asked once.
    """
    async with ModelServer(programmer(until(1, wrong))) as server:
        run = LoopRun(tmp_path, server.base_url, tasks=1)
        assert (await run(["prompts", "temperatures", "attacks"])).exit_code == 0
        temperatures = Counter(asked.body["temperature"] for asked in server.requests)
        sentences = {asked.prompt for asked in server.requests if asks_for_words(asked.prompt)}
    assert temperatures == {0: 3 + 5 * 1 + 3, 0.2: 3, 0.4: 3, 0.6: 3, 0.8: 3}
    assert len(sentences) == 6
    names = [SUITE, *(f"{SUITE}@{variant.name}" for variant in loop.VARIANTS)]
    lines = {name: run.records(name) for name in names}
    assert all(len(records) == 1 for records in lines.values())
    assert len({records[0].protocol for records in lines.values()}) == 13
    attacked = [lines[name][0] for name in names if "@attack" in name]
    assert all((record.max_loops, len(record.loops)) == (1, 1) for record in attacked)
    assert len({record.loops[0].prompt for record in (*attacked, *lines[SUITE])}) == 4


async def test_what_an_attack_did_can_be_read_from_the_lines(tmp_path: Path) -> None:
    """A model that upper case confuses loses every task under that attack, and none under the others."""

    def easily_confused(asked: Asked) -> str:
        shouting = "NOTHING" if asked.prompt.isupper() else asked.prompt
        description = re.findall(r"[A-Za-z]{4,}", shouting)
        capitals = sum(word.isupper() for word in description)
        confused = capitals > len(description) / 4
        return programmer(wrong if confused else right)(asked)

    async with ModelServer(easily_confused) as server:
        run = LoopRun(tmp_path, server.base_url, tasks=4)
        await run(["attacks"])
    passing = {
        variant: sum(record.sustained_loops > 0 for record in run.records(f"{SUITE}{variant}"))
        for variant in ("", "@attack-upper", "@attack-structured", "@attack-redundant")
    }
    assert list(passing.values()) == [4, 0, 4, 4]


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0.0},
        {"api": {"base_url": "http://127.0.0.1:9/v1", "model": "m", "unsupported": ["temperature"]}},
    ],
)
async def test_a_model_whose_temperature_is_fixed_has_no_temperatures(
    settings: dict[str, object], tmp_path: Path
) -> None:
    """Where every variant would be asked as the baseline is, under another name, none is run."""
    async with ModelServer(programmer(wrong)) as server:
        if "api" in settings:
            settings["api"]["base_url"] = server.base_url  # type: ignore[index]  # the row's own address
        run = LoopRun(tmp_path, server.base_url, tasks=1, settings=settings)
        await run(["temperatures"])
        assert server.count == 1
    assert len(run.records()) == 1
    assert not run.folder.lines("m", f"{SUITE}@temperature-0.2").exists()


async def test_a_line_holds_the_whole_film_of_its_loops(tmp_path: Path) -> None:
    """Every question, reply, program and verdict can be read from the line, with the input that failed."""
    async with ModelServer(programmer(until(2, wrong))) as server:
        run = LoopRun(tmp_path, server.base_url, tasks=1)
        await run()
        (record,) = run.records()
        programs = [asked.prompt for asked in server.requests if not is_summary(asked.prompt)]
        sentences = [asked.prompt for asked in server.requests if is_summary(asked.prompt)]
    for step, question in zip(record.loops, programs, strict=True):
        assert step.prompt.strip() in question
        assert step.program.strip() in step.reply.text
        assert step.verdict is not None
    for step, following, question in zip(record.loops, record.loops[1:], sentences, strict=False):
        assert step.program.strip() in question
        assert step.summary_reply is not None
        assert step.summary == step.summary_reply.text
        assert step.summary in following.prompt
    last = record.loops[-1].verdict
    assert last is not None
    assert last.failing is not None
    assert last.failing.input.startswith("(")
    assert last.failing.got == "'nonsense'"
    assert last.failing.expected not in ("", last.failing.got)


def _timeless(records: list[LoopRecord]) -> list[LoopRecord]:
    return [record.model_copy(update={"seconds": 0.0}) for record in records]


def _command(root: Path, base_url: str) -> "subprocess.Popen[bytes]":
    """`triathlon run` as a process group of its own."""
    models = root / "models.yaml"
    models.write_text(
        f"models: [{{id: m, name: M, api: {{base_url: '{base_url}', model: scripted}}}}]\n", encoding="utf-8"
    )
    options = ["--models-file", str(models), "--results", str(root / "results"), "--suites", SUITE]
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from triathlon_site.cli import main; main()",
            "run",
            *options,
            "--limit",
            "1",
        ],
        env={**os.environ, "TRIATHLON_CACHE": str(root / "cache")},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
