"""What cannot run on this machine: named, it is a user's error; unnamed, it is left out with the reason."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from support.small_run import ROWS, SmallRun
from triathlon_runner import catalogue, sandbox
from triathlon_runner.cli import app
from triathlon_runner.cli._report import notices
from triathlon_runner.languages import LANGUAGES, Language
from triathlon_runner.sandbox import SandboxError, SandboxHealth
from triathlon_runner.schedule import RunPlan, Work

KEYLESS = """
  - id: keyless
    name: Keyless
    api: {base_url: 'http://127.0.0.1:1/v1', model: m, key_env: NOBODY_SETS_THIS_KEY}
"""


@pytest.fixture
def place(tmp_path: Path) -> SmallRun:
    """A model whose server is away, and one whose key is missing."""
    (tmp_path / "models.yaml").write_text(ROWS.format(url="http://127.0.0.1:1/v1").rstrip() + KEYLESS)
    return SmallRun(tmp_path)


@pytest.fixture
def without_php(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose PHP has another name."""
    renamed = replace(LANGUAGES[Language.PHP], command=("php-that-is-not-here",))
    monkeypatch.setitem(LANGUAGES, Language.PHP, renamed)


NO_KEY = "keyless: no key: set the environment variable NOBODY_SETS_THIS_KEY"


@pytest.mark.parametrize(
    ("rows", "models", "said"),
    [
        (None, "keyless", NO_KEY),
        (None, "m,keyless", NO_KEY),
        ("models: []\n", None, "expected a model to run, the models file lists none; add one"),
        (f"models:\n{KEYLESS}", None, NO_KEY),
    ],
)
def test_a_run_that_could_not_ask_what_is_wanted(
    place: SmallRun, rows: str | None, models: str | None, said: str
) -> None:
    """Who names a model wants it, and a run that could ask nobody is no success: nothing is read or asked."""
    if rows is not None:
        (place.root / "models.yaml").write_text(rows)
    place.expect(f"run --suites evolved/core-seeds {f'--models {models}' if models else ''}", 2, said)
    assert not (place.results / "runs/keyless").exists()


def test_a_row_that_executes_is_named_before_the_run(place: SmallRun) -> None:
    """Its interpreter, variables and the code of its weights run outside the sandbox: the row says whose."""
    weights = "{huggingface: {repo: a/b, revision: main}}"
    (place.root / "models.yaml").write_text(
        "models:\n  - {id: x, name: X, serve: {engine: vllm, python: /bin/true,"
        f" trust_remote_code: true, env: {{LD_PRELOAD: /nowhere/x.so}}, weights: {weights},"
        " args: {seed: 1, tool-parser-plugin: p.py}}}\n"
    )
    shown = " ".join(place.call("run", "--suites", "evolved/core-seeds", "--limit", "1").output.split())
    names = "trust_remote_code: a/b; python: /bin/true; args: tool-parser-plugin; env: LD_PRELOAD"
    assert f"x: its row runs code on this machine, outside the sandbox ({names})" in shown


def test_a_dry_run_of_a_named_model_needs_no_key(place: SmallRun) -> None:
    """What it would take is said; unnamed, it is left out. Nothing is written, not even a folder."""
    place.expect("run --suites evolved/core-seeds --models keyless --dry-run", 0, "keyless", "!skipped")
    place.expect("run --suites evolved/core-seeds --dry-run", 0, "skipped model keyless: no key")
    assert not place.results.exists()


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ("--suites evolved/core-seeds --variants prompts", "prompts"),
        ("--variants own-prompts,style", "own-prompts"),
    ],
)
def test_variants_that_no_suite_of_the_run_has(place: SmallRun, options: str, kind: str) -> None:
    """Neither the named suites nor those of the profile: the option would do nothing."""
    said = f"variants that the suites of this run have at --variants, got '{kind}'; `triathlon suites"
    place.expect(f"run --models m --dry-run {options}", 2, said)


@pytest.mark.usefixtures("without_php")
def test_suites_without_their_interpreter(place: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain through PHP cannot be run without PHP: left out with what to install; named, an error."""
    missing = "php is not installed"
    named = f"'translation/core' was named and cannot run here: {missing}"
    place.expect("run --models m --suites translation/core --dry-run", 2, named)
    few = [one for one in catalogue.entries() if one.id in ("translation/core", "evolved/core-seeds")]
    monkeypatch.setattr("triathlon_runner.catalogue._entries", lambda *_: tuple(few))  # all take a minute
    skipped = f"skipped suite translation/core: {missing}: 'php-that-is-not-here' is not on"
    run = "run --models m --profile standard --limit 1 --dry-run"
    said = place.expect(run, 0, skipped, "php-cli", "evolved/core-seeds")
    assert said.count("translation/core") == 1


def test_nothing_can_be_executed(place: SmallRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command that executes programs says in a line what to enable, without a traceback."""

    async def refuse(_: object) -> None:
        raise SandboxError("the kernel has none")

    monkeypatch.setattr("triathlon_runner.sandbox._open._check_ways_out", refuse)
    (place.root / "samples.jsonl").write_text('{"task_id": "core/seeds/bill-total", "solution": "x"}\n')
    for command in ("grade samples.jsonl --suite evolved/core-seeds", "run --models m --dry-run"):
        place.expect(command, 2, "nothing is executed here", "Enable")


@pytest.mark.slow
def test_a_kernel_without_a_sandbox_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1, each level's reason, and what helps on kernels, in gVisor and in Apple's container."""

    async def health() -> SandboxHealth:
        refused = {"namespaces": "unshare: Operation not permitted", "lite": "this kernel has no Landlock"}
        return SandboxHealth(level=None, refused=refused, jobs=2, languages=())

    monkeypatch.setattr(sandbox, "doctor", health)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    text = " ".join(result.output.split())
    for said in ("unshare: Operation not permitted", "no Landlock", "Linux 5.13", "gVisor", "Apple"):
        assert said in text
    assert "every one is decided outside" not in text


@pytest.mark.parametrize("lacks", [True, False])
def test_programs_that_lack_a_library_are_named(lacks: bool) -> None:
    """With what installs the libraries; those without a question are no news: they are so everywhere."""
    left_out = {"D/3": "no input with a question"}
    if lacks:
        left_out["D/117"] = "needs bs4, not installed here"
    settings: dict[str, Any] = {"questions": {"count": 3070, "left_out_programs": left_out}}
    row = SimpleNamespace(id="m", serve=None, api=None)
    work = SimpleNamespace(row=row, suite_id="runtime/dreval", settings=settings, asks_for_copies=False)
    said = list(notices(RunPlan(work={"m": [cast("Work", work)]})))
    assert len(said) == lacks
    for notice in said:
        assert "runtime/dreval asks 3070 questions, not all that its data set has: D/117 needs bs4" in notice
        assert "[official]'" in notice and "no input" not in notice
