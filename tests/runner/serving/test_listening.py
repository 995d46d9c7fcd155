"""Where a server listens, and who may ask it."""

from pathlib import Path

import httpx
import pytest

from support.fake_vllm import fake_interpreter
from triathlon_runner.serving import Listening, Restarts, ServeConfig, ServerLostError, serve


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::"])
def test_nobody_else_without_a_key(host: str) -> None:
    """An address that others reach needs a key; loopback does not; a key is never shown."""
    with pytest.raises(ValueError, match="needs a key"):
        Listening(host)
    assert "secret" not in repr(Listening(host, "secret"))
    assert Listening().key == ""


async def test_a_key_is_asked_for(tmp_path: Path) -> None:
    """The server wants it, the probes show it, and neither its command line nor its log has it."""
    (tmp_path / "config.json").write_text("{}")
    row = {"engine": "vllm", "weights": {"path": tmp_path}, "python": fake_interpreter(tmp_path)}
    config, log = ServeConfig.model_validate({**row, "device": "cpu"}), tmp_path / "log"
    said: list[str] = []
    key = "k-0123456789"
    async with serve(
        config,
        model_id="m",
        cache=tmp_path,
        log=log,
        report=said.append,
        listening=Listening("127.0.0.1", key),
    ) as server:
        assert await server.healthy()
        async with httpx.AsyncClient(trust_env=False) as client:
            url, question = f"{server.base_url}/completions", {"model": "m", "prompt": "1"}
            assert (await client.post(url, json=question)).status_code == 401
        lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert key not in "".join(said) + log.read_text()
    assert not any(key.encode() in line for line in lines)


def test_restarts_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many within any hour; what is older does not count."""
    now = [0.0]
    monkeypatch.setattr("triathlon_runner.serving._restarts.time.monotonic", lambda: now[0])
    restarts = Restarts(2)
    restarts.spend("m", "it died")
    now[0] = 3000.0
    restarts.spend("m", "it died")
    with pytest.raises(ServerLostError, match=r"after 2 restarts within an hour \(it died\)"):
        restarts.spend("m", "it died")
    now[0] = 3601.0
    restarts.spend("m", "it died")
