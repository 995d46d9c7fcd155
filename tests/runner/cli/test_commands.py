"""The command line: every command explains itself, and README names only commands and options that exist."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from support.official_data import official_store
from triathlon_runner import catalogue, models_yaml
from triathlon_runner.cli import app
from triathlon_runner.datasets import DataStore, DataUnavailableError

ROOT = Path(__file__).parents[3]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs/running.md", ROOT / "CONTRIBUTING.md")


def blocks(language: str) -> list[str]:
    """The blocks of this language in the documents."""
    text = "\n".join(path.read_text("utf-8") for path in DOCUMENTS)
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def commands() -> dict[str, Any]:
    found: dict[str, Any] = {}
    left = [("", typer.main.get_command(app))]
    while left:
        name, command = left.pop()
        found[name.strip()] = command
        left += [(f"{name} {word}", below) for word, below in getattr(command, "commands", {}).items()]
    return found


HELPS = commands()
COMMANDS = {name: command for name, command in HELPS.items() if not hasattr(command, "commands")}


def parse(line: str) -> None:
    """Reads a line as the command would, without executing it; a mistake is a usage error."""
    words = shlex.split(line, comments=True)[1:]
    name = max((n for n in COMMANDS if words[: len(n.split())] == n.split()), key=len, default=None)
    assert name is not None, f"no such command: {line}"
    COMMANDS[name].make_context(name, words[len(name.split()) :])


@pytest.mark.parametrize("command", HELPS)
def test_every_command_has_help(command: str) -> None:
    """`-h` and `--help` say the same of each command and group, whole, and end with lines that it takes."""

    def shown(option: str, columns: int) -> str:
        environment = {"COLUMNS": f"{columns}", "NO_COLOR": "1"}
        result = CliRunner().invoke(app, [*command.split(), option], env=environment)
        assert result.exit_code == 0
        return result.output

    wide = shown("-h", 200)
    assert shown("--help", 200) == wide and len(wide.splitlines()) > 5
    assert "…" not in shown("-h", 80).replace("FILE…", "")
    examples = HELPS[command].epilog.split("Examples:\n")[1].splitlines()
    assert examples
    for example in examples:
        assert example.startswith(f"triathlon {command}")
        for line in example.split(" && "):
            parse(line)
    assert [line.strip() for line in wide.splitlines() if line.strip() in examples] == examples


def test_the_version_is_that_of_the_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shown = CliRunner().invoke(app, ["--version"])
    assert (shown.exit_code, shown.output) == (0, f"triathlon {declared}\n")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("bui", "build"),
        ("run --base", "--base-url"),
        ("run --profile s", "standard"),
        ("import evalp", "evalplus"),
        ("export evalp", "evalplus"),
    ],
)
def test_a_shell_can_complete(typed: str, offered: str) -> None:
    """What is offered for the last word: commands, options, profiles and formats."""
    words = {"COMP_WORDS": f"triathlon {typed}", "COMP_CWORD": f"{len(typed.split())}"}
    environment = {"_TRIATHLON_COMPLETE": "complete_bash", **words}
    shown = CliRunner().invoke(app, [], env=environment, prog_name="triathlon")
    assert (shown.exit_code, shown.stderr, shown.output.split()) == (0, "", [offered])


BY_HAND = (
    "source .venv/bin/activate",
    "pipx install --editable .",
    "uv tool install --editable .",
    "pip install '.[ray]'",
    "ray start --head",
    "serve run serve.yaml",
    "docker build --tag triathlon .",
    "docker run --rm --interactive --tty --volume .:/work triathlon doctor",
)
"""Ways to install that are tried by hand."""


@pytest.mark.parametrize("line", "".join(blocks("console")).splitlines())
def test_the_readmes_lines_are_right(line: str) -> None:
    """A `triathlon` line is one that the command takes, values and arguments included; a target is there."""
    line = shlex.join(shlex.split(line, comments=True))
    if line.startswith("triathlon "):
        parse(line)
    elif line.startswith("make "):
        target = line.split()[1]
        assert re.search(rf"^{target}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    else:
        assert line in ("", *BY_HAND)


def test_the_readmes_rows_are_good(tmp_path: Path) -> None:
    """Every block that shows rows of models.yaml, or a part of one, loads; a comment names another file."""
    of_models = [block for block in blocks("yaml") if not block.startswith("# serve.yaml")]
    assert len(of_models) >= 4
    for block in of_models:
        rows = block if block.lstrip().startswith("- ") else "  - id: a\n" + indent(block, "    ")
        path = tmp_path / "models.yaml"
        path.write_text(f"models:\n{rows}")
        assert models_yaml.load(path).models


@pytest.mark.parametrize("official", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_suites_with_their_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, official: bool) -> None:
    """Variants where asked for; how verdicts are decided; what each says of its data without reading it."""
    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path))
    store = official_store() if official else DataStore(cache=tmp_path, fetch=False)
    monkeypatch.setenv("TRIATHLON_DATA", str(store.folder or ""))
    every, plain = (
        {row["id"]: row for row in json.loads(CliRunner().invoke(app, call).output)}
        for call in (["suites", "--variants", "--json"], ["suites", "--json"])
    )
    assert "loop/core@attack-upper" in every and "loop/core@attack-upper" not in plain
    for suite in ("evolved/humaneval-plus", "translation/mbxp", "loop/core"):
        assert every[suite]["graded"] == "outside"
    assert {row["graded"] for suite, row in every.items() if suite.startswith("runtime/")} == {"in part"}
    assert (plain["loop/core"]["here"], plain["loop/core"]["data"][:10]) == ("in the package", "core/seeds")
    for entry in catalogue.select():
        try:
            data = entry.build(store).data
        except DataUnavailableError:
            assert plain[entry.id]["here"] == "when run"
        else:
            assert plain[entry.id]["data"] == f"{data.name} {data.version}"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_output_that_cannot_be_written() -> None:
    """One line says why; no traceback."""
    command = [str(Path(sys.executable).with_name("triathlon")), "suites"]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("triathlon: cannot write the output: No space left on device")
