"""Model servers on a real Ray cluster of two nodes on this machine, with a stand-in for vLLM."""

import asyncio
import importlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.fake_vllm import fake_row
from triathlon_runner.cluster import open_cluster
from triathlon_runner.endpoints import Answer, Completion, ReplyCache, Sampling
from triathlon_runner.registry import Registry
from triathlon_runner.schedule import ModelOpener, OpenModel
from triathlon_runner.serving import ServerLostError, ServingError

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


class Run:
    """Reaches the stand-in where it is placed, and keeps what was said."""

    def __init__(self, root: Path, behaviour: str = "answers", **block: Any) -> None:
        self.root, self.said = root, list[str]()
        self.registry = Registry.model_validate({"models": [fake_row(root, behaviour, **block)]})

    def opener(self, servers: Any, replies: ReplyCache) -> ModelOpener:
        return ModelOpener(self.registry, replies, self.root, self.said.append, servers)


async def ask(opened: OpenModel, number: int) -> Answer:
    return await opened.ask(Completion(f"{number}"), Sampling(8))


async def test_a_server_on_a_node(cluster: Any, tmp_path: Path) -> None:
    """It listens on its node's address, wants a key that nothing shows, and its log comes here."""
    run = Run(tmp_path)
    async with open_cluster(cluster.address, report=run.said.append) as there:
        servers = there.servers(tmp_path)
        serve = run.registry.models[0].serve
        assert serve is not None
        log = tmp_path / "logs" / "m.log"
        async with servers.serve(serve, model_id="m", log=log, report=run.said.append) as server:
            question = {"model": "m", "prompt": "1", "max_tokens": 1}
            async with httpx.AsyncClient(trust_env=False) as client:
                url = f"{server.base_url}/completions"
                bare = await client.post(url, json=question)
                shown = await client.post(
                    url, json=question, headers={"authorization": f"Bearer {server.key}"}
                )
            assert (bare.status_code, shown.status_code) == (401, 200)
            assert len(server.key) > 30
            key = server.key.encode()
    assert "arguments" in log.read_text()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and key in path.read_bytes()]
    assert key.decode() not in "\n".join(run.said) + repr(server)
    assert any("m answers after" in line for line in run.said)


def processes(folder: Path) -> list[int]:
    """Stand-ins of this test that are alive."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"FAKE_VLLM_FOLDER={folder}".encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


async def test_a_node_is_lost_under_a_server(cluster: Any, tmp_path: Path) -> None:
    """The node of a server is killed in the middle: it goes on on the other, and all is answered."""
    run = Run(tmp_path)
    row = run.registry.models[0]
    with ReplyCache(tmp_path / "c.sqlite") as replies:
        async with (
            open_cluster(cluster.address, report=run.said.append) as there,
            run.opener(there.servers(tmp_path), replies).open(row) as opened,
        ):
            said = [(await ask(opened, n)).reply.text for n in range(5)]
            victim = await host_node(cluster)
            await asyncio.to_thread(cluster.remove_node, victim, allow_graceful=False)
            async with asyncio.timeout(120):
                while not restarted(run):  # what was started on the node outlives it by a moment
                    said.append((await ask(opened, len(said))).reply.text)
                more = await asyncio.gather(*(ask(opened, n) for n in range(len(said), len(said) + 5)))
    said += [answer.reply.text for answer in more]
    assert said == [f"after {n}" for n in range(len(said))]
    cluster.add_node(num_cpus=1)
    assert not processes(tmp_path)


async def test_a_node_is_lost_under_a_start(cluster: Any, tmp_path: Path) -> None:
    """A node that is lost while a server starts on it costs a try, not the model."""
    run = Run(tmp_path, "late")
    row = run.registry.models[0]
    with ReplyCache(tmp_path / "c.sqlite") as replies:
        async with open_cluster(cluster.address, report=run.said.append) as there:
            reaching = run.opener(there.servers(tmp_path), replies).open(row)
            entering = asyncio.create_task(reaching.__aenter__())
            while (victim := await host_node(cluster)) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await asyncio.to_thread(cluster.remove_node, victim, allow_graceful=False)
            async with asyncio.timeout(120):
                opened = await entering
                assert (await ask(opened, 1)).reply.text == "after 1"
            await reaching.__aexit__(None, None, None)
    cluster.add_node(num_cpus=1)


def restarted(run: Run) -> bool:
    return any("restarting the server of m" in line for line in run.said)


async def host_node(cluster: Any) -> Any:
    """The node on which the model is, the one whose CPU is taken; None where it is on none."""
    state = importlib.import_module("ray._private.state")
    free = await asyncio.to_thread(state.available_resources_per_node)
    alive = [node for node in cluster.worker_nodes if node.node_id in free]
    return next((node for node in alive if not free[node.node_id].get("CPU")), None)


async def test_a_server_that_keeps_dying(cluster: Any, tmp_path: Path) -> None:
    """It is started again, on another node, so often as its row says, and then given up with its log."""
    run = Run(tmp_path, "dies_after:2", max_restarts=1)
    async with open_cluster(cluster.address, report=run.said.append) as there:
        serve = run.registry.models[0].serve
        assert serve is not None
        log = tmp_path / "logs" / "m.log"
        servers = there.servers(tmp_path)
        async with servers.serve(serve, model_id="m", log=log, report=run.said.append) as server:
            await server.ensure()
            assert server.starts == 2
            with pytest.raises(ServerLostError, match="after 1 restarts within an hour"):
                await server.ensure()
    assert "EngineDeadError" in log.read_text()


async def test_no_room_ever(cluster: Any, tmp_path: Path) -> None:
    """A model that no node could hold is a user's error at once, which says what the nodes have."""
    run = Run(tmp_path, device="cuda", args={"tensor-parallel-size": 4})
    async with open_cluster(cluster.address, report=run.said.append) as there:
        serve = run.registry.models[0].serve
        assert serve is not None
        with pytest.raises(ServingError, match=r"a node with 4 GPU\(s\).*have at most 0"):
            async with there.servers(tmp_path).serve(
                serve, model_id="m", log=tmp_path / "m.log", report=run.said.append
            ):
                pass


async def test_a_start_that_fails(cluster: Any, tmp_path: Path) -> None:
    """What the server said when it died at its start is in the message."""
    run = Run(tmp_path, "dies")
    async with open_cluster(cluster.address, report=run.said.append) as there:
        with ReplyCache(tmp_path / "c.sqlite") as replies, pytest.raises(ServingError) as caught:
            async with run.opener(there.servers(tmp_path), replies).open(run.registry.models[0]):
                pass
    assert "RuntimeError: Engine core initialization failed" in str(caught.value)
