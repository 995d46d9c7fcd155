"""The library of hostile programs against the live engine; what is refused where the kernel lacks a layer."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from support.attacks import Attack, attack, library
from support.case_files import sections
from triathlon_runner.errors import UserError
from triathlon_runner.sandbox import Language, SandboxError, doctor, open_sandbox
from triathlon_runner.sandbox._inside import system


def test_the_library_is_large_and_documented() -> None:
    """At least 100 attacks of all kinds and on all tasks, each with a sentence of its own."""
    purposes, kinds = zip(*(one.source.splitlines()[:2] for one in library()), strict=True)
    assert len(set(purposes)) == len(library()) >= 100 and all(what.endswith(".") for what in purposes)
    assert set(kinds) == {f"# kind: {kind}" for kind in ("cheat", "theft", "sabotage", "dos")}
    assert all(any(one.says(f"task: {task}") for one in library()) for task in ("tests", "class"))


@pytest.mark.parametrize("is_long", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", ["namespaces", "lite"])
async def test_the_engine_holds(level: str, is_long: bool) -> None:
    """Many of those that deny service take all the time that a program has."""
    chosen = [one for one in library() if one.says("kind: dos") is is_long]
    assert len(chosen) >= 40 and await attack(level, chosen) == {}


async def test_what_gets_out_is_noticed() -> None:
    """The check itself can fail: a right answer of a cheat scores, a trace of loot is stolen."""
    right = "def f(x):\n    return x + 1\n"
    stealing = Attack("theft", f"# honest: yes\nloot('x', 1)\n{right}")
    faults = await attack("auto", (Attack("cheat", right), stealing))
    assert faults == {"cheat": ["graded passed"], "theft": ["LOOT:x:1"]}


async def test_doctor_names_level_and_languages() -> None:
    """The doctor tries what there is: a level, and every language with a version or what is missing.

    Of PHP also the extension that many programs use.
    """
    health = await doctor()
    assert health.level in ("namespaces", "lite")
    assert len(health.languages) == 5
    assert all(bool(one.version) != bool(one.fault) for one in health.languages)
    php = next(one for one in health.languages if one.language is Language.PHP)
    if php.version:
        listed = await asyncio.to_thread(subprocess.check_output, ["php", "-m"], text=True)
        assert ("apt-get install php-mbstring" in php.version) == ("mbstring" not in listed.split())


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("lite", "refused: without namespaces only Landlock keeps files out of reach"),
        ("namespaces", "prepared"),
    ],
)
def test_lite_is_refused_where_landlock_is_missing(level: str, expected: str) -> None:
    """Nothing else hides the machine's files; the file tree of `namespaces` shows only what may be read."""
    script = sections(Path(__file__).with_name("scripts.txt"))["without Landlock"]
    command = [sys.executable, "-c", script, level]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if level == "namespaces" and "Operation not permitted" in done.stdout:
        pytest.skip(f"this machine refuses namespaces: {done.stdout}")
    assert done.stdout.startswith(expected), done


async def test_where_no_level_works_nothing_is_executed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that refuses all levels is told what to enable; no weaker level takes their place."""
    with pytest.raises(UserError, match="no isolation level 'none'"):
        async with open_sandbox("none"):
            pass
    monkeypatch.setattr("triathlon_runner.sandbox._worker.BOOT", system.__file__)  # starts, and says nothing
    with pytest.raises(SandboxError, match=r"no isolation level works .*namespaces: .*lite: .*Enable"):
        async with open_sandbox():
            pass
    with pytest.raises(SandboxError, match=r"^this isolation level does not work here \(lite: .*Enable"):
        async with open_sandbox("lite"):  # of the others nothing is known
            pass
