"""`triathlon doctor` on a kernel that offers no sandbox says why and what to do."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from triathlon_runner import sandbox
from triathlon_runner.cli import _doctor, add_commands, app
from triathlon_runner.sandbox import SandboxHealth, attacks
from triathlon_runner.terminal import Screen

add_commands()


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


def test_hostile_programs_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What they reached is broken between words."""
    output = io.StringIO()
    screen = Screen(file=output, width=80, force_terminal=True, color_system=None)

    async def attack(level: str, on_result: Callable[[attacks.AttackResult], None]) -> attacks.AttackReport:
        result = attacks.AttackResult("n", "kind", "passed", harmed="word " * 40)
        on_result(result)
        return attacks.AttackReport(level, (result,))

    monkeypatch.setenv("TRIATHLON_CACHE", str(tmp_path))
    monkeypatch.setattr(attacks, "attack", attack)
    monkeypatch.setattr(_doctor, "console", lambda: screen)
    CliRunner().invoke(app, ["doctor", "--attack"])
    lines = output.getvalue().splitlines()
    assert len(lines) > 3 and all(len(line.rstrip()) <= 80 for line in lines)
