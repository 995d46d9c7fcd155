"""The command line: every command explains itself, and README names only commands and options that exist."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import triathlon_site.cli  # noqa: F401  # adds its commands
from support.official_data import official_store
from support.site import small_results
from support.small_run import SmallRun
from triathlon_runner import catalogue, models_yaml
from triathlon_runner.cli import add_commands, app
from triathlon_runner.datasets import DataStore, DataUnavailableError

add_commands()

ROOT = Path(__file__).parents[3]
DOCUMENTS = (ROOT / "README.md", ROOT / "docs/running.md", ROOT / "CONTRIBUTING.md")


def lines_of(language: str) -> list[str]:
    """What stands in the blocks of this language in the documents, comments left out."""
    blocks = [
        block
        for document in DOCUMENTS
        for block in re.findall(rf"```{language}\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
    ]
    lines = [shlex.join(shlex.split(line, comments=True)) for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


def commands() -> dict[str, Any]:
    """Every command and every group of commands, by the words that it is called with."""
    found: dict[str, Any] = {}
    left = [("", typer.main.get_command(app))]
    while left:
        name, command = left.pop()
        found[name.strip()] = command
        left += [(f"{name} {word}", below) for word, below in getattr(command, "commands", {}).items()]
    return found


HELPS = commands()
COMMANDS = {name: command for name, command in HELPS.items() if not hasattr(command, "commands")}
OURS = [line for line in lines_of("console") if line.startswith("triathlon ")]
OTHERS = [line for line in lines_of("console") if not line.startswith("triathlon ")]


def parse(line: str) -> None:
    """Reads a line as the command would, without executing it; a mistake is a usage error."""
    words = shlex.split(line, comments=True)[1:]
    name = max((n for n in COMMANDS if words[: len(n.split())] == n.split()), key=len, default=None)
    assert name is not None, f"no such command: {line}"
    COMMANDS[name].make_context(name, words[len(name.split()) :])


@pytest.mark.parametrize("command", HELPS)
def test_every_command_has_help(command: str) -> None:
    """`-h` and `--help` of each command and group say the same, more than its name, and cut nothing off."""
    long, short = (CliRunner().invoke(app, [*command.split(), option]) for option in ("--help", "-h"))
    assert long.exit_code == short.exit_code == 0
    assert long.output == short.output
    assert len(long.output.splitlines()) > 5
    narrow = CliRunner().invoke(app, [*command.split(), "-h"], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert "…" not in narrow.output.replace("FILE…", "")


@pytest.mark.parametrize("command", HELPS)
def test_every_help_has_examples_that_are_right(command: str) -> None:
    """The help of each command and group ends with lines that it would take."""
    examples = HELPS[command].epilog.split("Examples:\n")[1].splitlines()
    assert examples
    for example in examples:
        assert example.startswith(f"triathlon {command}")
        for line in example.split(" && "):
            parse(line)
    shown = CliRunner().invoke(app, [*command.split(), "-h"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert [line.strip() for line in shown.output.splitlines() if line.strip() in examples] == examples


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("run --limit 0", "'--limit': Input should be greater than or equal to 1"),
        ("run --budget nan", "'--budget': Input should be"),
        ("run --executor moon", "'--executor': "),
        ("run --limt 3", "No such option: --limt"),
        ("results lst", "Did you mean 'list'?"),
    ],
)
def test_a_wrong_value_is_a_usage_error(typed: str, said: str) -> None:
    """Exit code 2, and the option or command that was meant."""
    result = CliRunner().invoke(app, typed.split(), env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert result.exit_code == 2 and said in result.output


def test_the_version_is_that_of_the_package() -> None:
    """`--version` says the name and the version that the package was built with."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shown = CliRunner().invoke(app, ["--version"])
    assert (shown.exit_code, shown.output) == (0, f"triathlon {declared}\n")


def completions(typed: str) -> list[str]:
    """What a shell offers for the last word."""
    words = {"COMP_WORDS": f"triathlon {typed}", "COMP_CWORD": f"{len(typed.split())}"}
    environment = {"_TRIATHLON_COMPLETE": "complete_bash", **words}
    shown = CliRunner().invoke(app, [], env=environment, prog_name="triathlon")
    assert shown.exit_code == 0 and not shown.stderr
    return shown.output.split()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("bui", ["build"]),
        ("run --base", ["--base-url"]),
        ("run --profile s", ["standard"]),
        ("import evalp", ["evalplus"]),
        ("export evalp", ["evalplus"]),
    ],
)
def test_a_shell_can_complete(typed: str, offered: list[str]) -> None:
    """Commands, options, profiles and formats."""
    assert completions(typed) == offered


@pytest.mark.parametrize("line", OURS)
def test_the_readmes_commands_are_taken(line: str) -> None:
    """Each `triathlon` line of the documents is one that the command takes, values and arguments included."""
    parse(line)


@pytest.mark.parametrize("line", OTHERS)
def test_the_readmes_other_lines_exist(line: str) -> None:
    """Targets of make are there, and the rest is a way to install that is tried by hand."""
    by_hand = [
        "source .venv/bin/activate",
        "pipx install --editable .",
        "uv tool install --editable .",
        "pip install '.[ray]'",
        "ray start --head",
        "serve run serve.yaml",
        "docker build --tag triathlon .",
        "docker run --rm --interactive --tty --volume .:/work triathlon doctor",
    ]
    if line.startswith("make "):
        target = line.split()[1]
        assert re.search(rf"^{target}:.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    else:
        assert line in by_hand


@pytest.mark.parametrize("size", ["inf", "1e300"])
def test_a_cache_may_be_of_any_size(tmp_path: Path, size: str) -> None:
    """A bound that no file reaches removes nothing."""
    shown = SmallRun(tmp_path).call("cache", "prune", "--max-megabytes", size)
    assert (shown.exit_code, shown.output) == (0, "0 replies removed\n")


@pytest.mark.slow
def test_the_readmes_commands_work_as_typed(tmp_path: Path) -> None:
    """Those that ask nobody, in a folder with models.yaml and results."""
    small_results(tmp_path / "results")
    shutil.copy(ROOT / "models.yaml", tmp_path)
    for line in (
        "triathlon models",
        "triathlon suites",
        "triathlon cache info",
        "triathlon scores --json",
        "triathlon build --strict",
    ):
        assert line in OURS
        shown = SmallRun(tmp_path).call(*line.split()[1:])
        assert shown.exit_code == 0, shown.output


def test_the_readmes_rows_are_good(tmp_path: Path) -> None:
    """Every block that shows rows of models.yaml, or a part of one, loads; a comment names another file."""
    blocks = [
        block
        for document in DOCUMENTS
        for block in re.findall(r"```yaml\n(.*?)```", document.read_text("utf-8"), re.DOTALL)
        if not block.startswith("# serve.yaml")
    ]
    assert len(blocks) >= 4
    for block in blocks:
        rows = block if block.lstrip().startswith("- ") else "  - id: a\n" + indent(block, "    ")
        path = tmp_path / "models.yaml"
        path.write_text(f"models:\n{rows}")
        assert models_yaml.load(path).models


@pytest.mark.parametrize("official", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_suites_with_their_variants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, official: bool) -> None:
    """Variants are listed where they are asked for, and of every suite where its verdicts are decided.

    No data is read for it: what each says of its data is what it says once it is built.
    """
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
