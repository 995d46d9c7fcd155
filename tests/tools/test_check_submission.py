"""`tools/check-submission`, which a workflow runs on pull requests: what it checks and how it ends."""

import os
import subprocess
import sys
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
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    found = subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return found.stdout.strip()


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """A repository with results of one model."""
    folder = tmp_path / "head"
    (folder / "results/runs/old").mkdir(parents=True)
    (folder / "results/runs/old/a.jsonl").write_text("")
    (folder / "models.yaml").write_text("models: [{id: old}]")
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
        "PYTHON": sys.executable,
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


def test_each_changed_model_is_checked(head: Path) -> None:
    """Once, also where another is refused; a new row may be part of it if the model's results are there."""
    base = git(head, "rev-parse", "HEAD")
    (head / "models.yaml").write_text("models: [{id: old}, {id: one, name: One}]")
    add(head, "one/a.jsonl", "one/b.jsonl", "two/a.jsonl")
    assert check(head, base) == (0, "report of one\n\nreport of two\n\n", ["one", "two"])
    add(head, "one/bad.jsonl")
    code, _, called = check(head, base)
    assert (code, called[2:]) == (1, ["one", "two"])


def test_results_of_others_and_odd_names_are_named_and_refused(head: Path) -> None:
    """A folder that is no id is never handed to a command; removing results is for a person to agree to."""
    base = git(head, "rev-parse", "HEAD")
    git(head, "rm", "-q", "results/runs/old/a.jsonl")
    add(head, "-x; touch y/a.jsonl", "one/a.jsonl")
    code, report, called = check(head, base)
    assert (code, called) == (1, ["one"])
    assert "removes results/runs/old/a.jsonl" in report and "adds results/runs/-x; touch y/a.jsonl" in report


def rows(text: str) -> str:
    """A command that writes another models.yaml."""
    return f"echo '{text}' > models.yaml"


def write(name: str) -> str:
    """A command that makes this file and its folder."""
    return f"mkdir -p {Path(name).parent} && echo x > {name}"


LINK_A_FILE = f"{write('results/runs/one/b.jsonl')} && ln -s /etc/passwd results/runs/one/a.jsonl"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("git mv results/runs/old results/runs/thieves", "removes results/runs/old/a.jsonl"),
        ("ln -s old results/runs/new", "adds results/runs/new"),
        (LINK_A_FILE, "adds results/runs/one/a.jsonl, which is no plain file"),
        (rows("models: [{id: old, name: Best}]"), "models.yaml: changes more than it adds"),
        (rows("models: [{id: old}, {id: other}]"), "adds rows of models without results here: other"),
        (rows("[" * 9), "models.yaml: expected a list of models, got "),
        *(
            (write(name), f"adds {name}")
            for name in (
                "templates/assets/x.js",
                ".github/workflows/submission.yml",
                "results/published/reval.csv",
                "results/imported/runs/m/a.jsonl",
                "results/runs/stray.jsonl",
            )
        ),
    ],
)
def test_every_other_path_is_named_and_refused(head: Path, change: str, said: str) -> None:
    """Whatever a pull request changes beside results of its models, and what a rename removes."""
    base = git(head, "rev-parse", "HEAD")
    subprocess.run(["bash", "-c", change], cwd=head, check=True)
    git(head, "add", ".")
    git(head, "commit", "-qm", "more")
    code, report, _ = check(head, base)
    assert code == 1 and "## Other changes" in report
    assert said in report.replace("\\", "")


def test_a_name_writes_neither_markup_nor_commands(head: Path) -> None:
    """Into the report, which becomes a comment, or the log, in which a line could be a command."""
    base = git(head, "rev-parse", "HEAD")
    add(head, "x\n::error::pwned\n# H1 [l](http:evil)\n@octocat <img src=x>/a.jsonl")
    code, report, _ = check(head, base)
    assert code == 1 and len(report.splitlines()) == 6
    assert not any(part in report for part in ("](", "<img", "@octocat", "\n::", "\n# "))
