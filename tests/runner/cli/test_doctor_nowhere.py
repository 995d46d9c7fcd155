"""`triathlon doctor` on a kernel that offers no sandbox says why and what to do."""

import pytest
from typer.testing import CliRunner

from triathlon_runner import sandbox
from triathlon_runner.cli import add_commands, app
from triathlon_runner.sandbox import SandboxHealth

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
