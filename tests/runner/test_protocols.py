"""The two hashes of a protocol: what each suite asks, and how it grades."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.hashes import hashes
from support.official_data import official_store
from support.suite_tables import REMEDY, todays_protocols
from triathlon_runner.datasets import DataStore
from triathlon_runner.records import ProtocolHashes, UnitRecord, known_protocols

TODAY = {key: protocol for key, protocol in known_protocols().items() if not key[1]}


@pytest.mark.parametrize(
    "official", [False, pytest.param(True, marks=[pytest.mark.official, pytest.mark.slow])]
)
def test_the_hashes_of_all_suites_are_those_of_the_table(official: bool) -> None:
    """A prompt, a problem or a rule that changes by mistake shows here; of our own suites without data."""
    store = official_store() if official else DataStore(cache=Path("nowhere"), fetch=False)
    found = todays_protocols(store, core_alone=not official)
    assert found == (TODAY if official else {key: TODAY.get(key) for key in found}), REMEDY


def test_suites_share_no_protocol() -> None:
    """Two suites, variants included, ask different things, but for those that only grade otherwise."""
    by_asked: dict[str, set[str]] = {}
    for (suite, _), protocol in TODAY.items():
        by_asked.setdefault(protocol.asked, set()).add(suite)
    assert sorted(map(sorted, (suites for suites in by_asked.values() if len(suites) > 1))) == [
        ["evolved/humaneval", "evolved/humaneval-plus"],
        ["runtime/dreval", "runtime/dreval@reval-truths"],
        ["runtime/dreval@cot", "runtime/dreval@cot+reval-truths"],
    ]
    assert len(set(TODAY.values())) == len(TODAY)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, (True, True)),
        ({"max_tokens": 9, "stop": ["x"], "api": "completions", "judge": {"model": "j"}}, (True, True)),
        ({"questions": {"python": "3.12", "left_out_programs": ["a"]}}, (True, True)),
        ({"asked": {"temperature": 0.8}}, (False, True)),
        ({"graded": {"rule": "authors"}}, (True, False)),
    ],
)
def test_what_each_hash_covers(change: dict[str, Any], same: tuple[bool, bool]) -> None:
    """Token limits, stop strings, chat or completion, judge and Python are in neither."""
    settings = {"asked": {"temperature": 0.0}, "graded": {"rule": "value"}}
    before, after = ProtocolHashes.of(settings), ProtocolHashes.of({**settings, **change})
    assert (before.asked == after.asked, before.graded == after.graded) == same


def read(suite: str, protocol: str) -> UnitRecord:
    """A line of an earlier version, whose protocol is one hash."""
    line = {"suite": suite, "protocol": protocol, "model": "m", "task_id": "t", "outcome": "passed"}
    return UnitRecord.model_validate_json(json.dumps({"schema": 1, **line}))


def test_lines_of_earlier_versions_are_read() -> None:
    """One hash becomes two by the table; loops on official data were asked with our prompts."""
    table = {key: protocol for key, protocol in known_protocols().items() if key[1]}
    assert len(table) > 100
    for (suite, before), protocol in table.items():
        record = read(suite, before)
        assert record.protocol == protocol
        assert UnitRecord.model_validate_json(record.model_dump_json(by_alias=True)) == record
    assert read("loop/core", "older").protocol == hashes("older")
    ours = TODAY["loop/mbpp-plus@own-prompts", ""]
    assert known_protocols()["loop/mbpp-plus", "0e66f88dac550e5e"] == ours
    assert ours.asked != TODAY["loop/mbpp-plus", ""].asked
