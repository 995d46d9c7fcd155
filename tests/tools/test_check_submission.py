"""`tools/check-submission`, which a workflow runs on pull requests: what it checks and how it ends."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAKE = """#!/usr/bin/env bash
folder=$3
for option in "$@"; do
  if [ "$last" = --markdown ]; then echo "report of $(basename "$folder")" > "$option"; fi
  last=$option
done
echo "$folder" >> "$CALLS"
test ! -e "$folder/bad.jsonl"
"""


def git(folder: Path, *arguments: str) -> str:
    """Output of a git command that has to succeed."""
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    found = subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return found.stdout.strip()


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """A repository with results of one model."""
    folder = tmp_path / "head"
    (folder / "results/runs/old").mkdir(parents=True)
    (folder / "results/runs/old/a.jsonl").write_text("")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    return folder


def check(head: Path, base: str) -> tuple[int, str, list[str]]:
    """Exit code, report and the folders that were checked; the command fails where `bad.jsonl` is."""
    place = head.parent
    command = place / "triathlon"
    command.write_text(FAKE)
    command.chmod(0o755)
    calls = place / "calls"
    environment = os.environ | {
        "HEAD": str(head),
        "BASE_COMMIT": base,
        "REPORT": str(place / "report.md"),
        "STATEMENTS": str(place / "statements"),
        "TRIATHLON": str(command),
        "CALLS": str(calls),
    }
    done = subprocess.run(
        [ROOT / "tools/check-submission"], env=environment, capture_output=True, check=False
    )
    called = calls.read_text().split() if calls.exists() else []
    return done.returncode, (place / "report.md").read_text(), [Path(one).name for one in called]


def add(head: Path, *names: str) -> None:
    for name in names:
        path = head / "results/runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    git(head, "add", ".")
    git(head, "commit", "-qm", "results")


def test_only_changed_models_are_checked(head: Path) -> None:
    """Each model that the pull request touches once; all reports are in one."""
    base = git(head, "rev-parse", "HEAD")
    add(head, "one/a.jsonl", "one/b.jsonl", "two/a.jsonl")
    assert check(head, base) == (0, "report of one\n\nreport of two\n\n", ["one", "two"])


def test_one_refused_model_fails_the_job(head: Path) -> None:
    """The others are checked nevertheless."""
    base = git(head, "rev-parse", "HEAD")
    add(head, "one/bad.jsonl", "two/a.jsonl")
    code, _, called = check(head, base)
    assert (code, called) == (1, ["one", "two"])


def test_odd_names_and_removed_results_are_told(head: Path) -> None:
    """A folder that is no id is never handed to a command; removing results is for a person to agree to."""
    base = git(head, "rev-parse", "HEAD")
    git(head, "rm", "-q", "results/runs/old/a.jsonl")
    add(head, "-x; touch y/a.jsonl")
    code, report, called = check(head, base)
    assert (code, called) == (1, [])
    assert "removes 1 committed results files" in report and "no model id" in report
