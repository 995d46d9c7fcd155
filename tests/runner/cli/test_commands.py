"""The command line: every command explains itself, and README names only commands and options that exist."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import triathlon_site.cli  # noqa: F401  # adds its commands
from triathlon_runner.cli import add_commands, app

add_commands()

README = Path(__file__).parents[3] / "README.md"
EXAMPLES = re.findall(r"^triathlon ([^#\n]+)", README.read_text(encoding="utf-8"), re.MULTILINE)
COMMANDS = (
    "run",
    "grade",
    "models",
    "suites",
    "doctor",
    "cache",
    "verify",
    "results",
    "import",
    "questions",
    "evolve",
    "sets",
    "translation",
    "scores",
    "build",
    "serve",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    """`--help` of each command ends well and says more than its name."""
    shown = CliRunner().invoke(app, [command, "--help"])
    assert shown.exit_code == 0
    assert len(shown.output.splitlines()) > 5


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_readme_names_what_exists(example: str) -> None:
    """Each command and option of the README's examples is one that the command knows."""
    words = example.split()
    command = [word for word in words[:2] if word.isalpha() and not word.startswith("-")]
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert shown.exit_code == 0, shown.output
    for option in re.findall(r"--[a-z-]+", example):
        assert option in shown.output


def test_catalogue_adds_variants_of_the_kinds_asked_for() -> None:
    """`--variants attacks` adds the attacked suites and nothing else."""
    shown = CliRunner().invoke(app, ["suites", "--variants", "--json"])
    assert shown.exit_code == 0
    assert "loop/core@attack-upper" in shown.output
    assert "loop/core@attack-upper" not in CliRunner().invoke(app, ["suites", "--json"]).output


def test_suites_say_where_they_are_judged() -> None:
    """For every suite the list says whether what decides is outside the process of the program."""
    listed = json.loads(CliRunner().invoke(app, ["suites", "--variants", "--json"]).output)
    ways = {entry["id"]: entry["judged"] for entry in listed}
    assert ways["evolved/humaneval-plus"] == ways["translation/mbxp"] == ways["loop/core"] == "outside"
    assert {way for suite, way in ways.items() if suite.startswith("runtime/")} == {"in part"}
