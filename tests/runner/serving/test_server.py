"""Starting, watching, restarting and stopping a server, with a stand-in for vLLM."""

import asyncio
import contextlib
import re
import socket
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest.mock import AsyncMock, MagicMock

import pytest

from support.fake_vllm import fake_interpreter, fake_row
from triathlon_runner.serving import Gpu, Machine, ServeConfig, Server, ServerLostError, ServingError, serve
from triathlon_runner.serving._launch import ServerPlan


def _config(folder: Path, behaviour: str, **block: Any) -> ServeConfig:
    return ServeConfig.model_validate(fake_row(folder, behaviour, **{"start_timeout": 20, **block})["serve"])


def _served(
    folder: Path, behaviour: str, machine: Machine | None = None, **block: Any
) -> AbstractAsyncContextManager[Server]:
    """A stand-in that lives in this folder, as its log does."""
    config, log = _config(folder, behaviour, **block), folder / "logs" / "m.log"
    return serve(config, model_id="m", cache=folder, log=log, report=print, machine=machine or Machine())


async def test_answers_while_the_block_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that takes its time is waited for; it answers as the row's id until a stop ends the block.

    Weights of the hub are served at their commit.
    """
    commit = "0123456789abcdef" * 2 + "01234567"
    hub = {"huggingface": {"repo": "org/name", "revision": commit}}
    with pytest.raises(asyncio.CancelledError):
        async with _served(tmp_path, "late", weights=hub) as server:
            assert server.base_url.startswith("http://127.0.0.1:") and server.base_url.endswith("/v1")
            assert (server.model, await server.fault()) == ("m", None)
            assert server.weights == f"huggingface org/name@{commit}"
            how = "bfloat16, cpu; greedy output may change with the load"
            assert server.served_by == f"vllm 0.0.fake ({how})"
            raise asyncio.CancelledError
    assert not _processes_mentioning(str(tmp_path))
    assert "m answers after" in capsys.readouterr().out
    assert f'"--revision", "{commit}"' in (tmp_path / "logs/m.log").read_text()


_NO_VLLM = "expected an interpreter with vLLM as python: "


@pytest.mark.parametrize(
    ("behaviour", "block", "problem"),
    [
        ("dies", {}, "ended with status 1 while starting.*Engine core initialization failed"),
        ("hangs", {"start_timeout": 0.5}, r"start_timeout = 0\.5 s"),
        ("nonsense", {}, "what\\?"),
        ("", {"python": "/bin/cat"}, _NO_VLLM + "'/bin/cat', got .*invalid option"),
        ("", {"python": "/no"}, _NO_VLLM + "'/no', got .*No such file"),
        ("", {"version": "9.9"}, r"expected vLLM '9.9'.*got '0.0.fake'"),
        ("", {"weights": {"path": "/none"}}, r"config\.json"),
    ],
    ids=str,
)
async def test_a_start_that_fails(tmp_path: Path, behaviour: str, block: Any, problem: str) -> None:
    """A user's error says what the row names and is not there, or what came of the server."""
    with pytest.raises(ServingError) as caught:
        async with _served(tmp_path, behaviour, **block):
            pass
    assert re.search(problem, str(caught.value), re.DOTALL)
    assert (tmp_path / "logs/m.log").exists() is bool(behaviour)
    assert not _processes_mentioning(str(tmp_path))


async def test_the_port_is_kept_for_one_restart(tmp_path: Path) -> None:
    """The system gives it to no other program meanwhile; all who notice a death get the same restart."""
    async with _served(tmp_path, "answers") as server:
        port = int(server.base_url.rpartition(":")[2].removesuffix("/v1"))
        await server.stop()
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        await asyncio.gather(*(server.ensure() for _ in range(2)))
        assert server.starts == 2 and await server.fault() is None


@pytest.mark.parametrize(
    ("device", "blocks", "block", "at_once"),
    [
        ("slow cpu", 99999, {}, 32),
        ("cpu", 99999, {}, 96),
        ("cpu", 9900, {}, 77),
        ("cpu", 1000, {}, 32),
        ("cpu", 99999, {"args": {"max-num-seqs": 8}}, 8),
        ("cuda", 99999, {}, 256),  # 1.6 million tokens
        ("cuda", 12800, {}, 100),  # 204,800 tokens, 2,048 for each question
        ("cuda", 1000, {}, 32),
        ("cuda", None, {}, 32),
        ("cuda", 99999, {"args": {"max-num-seqs": 64}}, 64),
    ],
)
async def test_questions_at_once_follow_from_the_device(
    tmp_path: Path, device: str, blocks: int | None, block: Any, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The memory for keys and values says how many it gets; a CPU gets more than 32 where it has bfloat16."""
    is_fast = not device.startswith("slow")
    monkeypatch.setattr("triathlon_runner.serving._launch._cpu_computes_in_bfloat16", lambda: is_fast)
    device = device.removeprefix("slow ")
    size = f'vllm:cache_config_info{{block_size="16",engine="0",num_gpu_blocks="{blocks}"}} 1.0\n'
    env = {"FAKE_VLLM_METRICS": "" if blocks is None else size}
    machine = Machine([Gpu(0, "GPU-a", "H100", 81559, 80000)])
    async with _served(tmp_path, "answers", machine, device=device, env=env, **block) as server:
        assert await server.at_once() == at_once


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [
        ("dies_after:2", "the connection of a probe failed"),
        ("stalls_after:2", "no answer to a probe within 0.5 s, and no new token"),
        ("busy_after:2", ""),
        ("answers", ""),
    ],
)
async def test_dead_or_stalled_server_is_restarted(tmp_path: Path, behaviour: str, fault: str) -> None:
    """A server that died or stalled is restarted under the same URL; one that writes new tokens is not."""
    async with _served(tmp_path, behaviour) as server:
        url = server.base_url
        server.fault = partial(server.fault, seconds=0.5)  # type: ignore[method-assign]
        assert (await server.fault() or "").startswith(fault)
        await server.ensure()
        assert (server.base_url, server.starts) == (url, 2 if fault else 1)


async def test_restarts_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many within any hour: one more is an infrastructure failure; what is older does not count."""
    log = tmp_path / "m.log"
    log.write_text("EngineDeadError: EngineCore encountered an issue.")
    now = [0.0]
    monkeypatch.setattr("triathlon_runner.serving._server.time.monotonic", lambda: now[0])
    plan = cast(ServerPlan, MagicMock(config=_config(tmp_path, "answers", max_restarts=2)))
    server = Server(plan, 1, log, lambda _: None, asyncio.Lock())
    monkeypatch.setattr(server, "start", AsyncMock())
    await server.ensure()
    now[0] = 3000.0
    await server.ensure()
    with pytest.raises(ServerLostError, match=r"after 2 restarts .*it has ended(?s:.*)EngineDeadError"):
        await server.ensure()
    now[0] = 3601.0
    await server.ensure()


async def test_restart_that_fails(tmp_path: Path) -> None:
    async with _served(tmp_path, "answers") as server:
        await server.stop()
        (tmp_path / "python-with-vllm").write_text("#!/bin/sh\nexit 1\n")
        with pytest.raises(ServerLostError, match="while starting"):
            await server.ensure()


def _processes_mentioning(text: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [command for command in [path.read_bytes().decode(errors="replace")] if text in command]
    return found


async def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """Where weights cannot be stored, the model cannot be served: a user's error that names the place."""
    weights = tmp_path / "m.gguf"
    weights.touch()
    (tmp_path / "converted").touch()
    with pytest.raises(ServingError, match=r"could not prepare vLLM and weights.*/converted"):
        async with _served(tmp_path, "answers", weights={"path": str(weights)}):
            pass


async def test_the_interpreter_gets_the_variables_of_the_row(tmp_path: Path) -> None:
    """Also when it is asked for its version: a variable may say where it finds vLLM."""
    python = tmp_path / "python-with-a-variable"
    python.write_text(f'#!/bin/sh\n[ "$PLACE" ] && exec {fake_interpreter(tmp_path)} "$@"\n')
    python.chmod(0o755)
    async with _served(tmp_path, "answers", python=str(python), env={"PLACE": "x"}) as server:
        assert server.starts == 1
