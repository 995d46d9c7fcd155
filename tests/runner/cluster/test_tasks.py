"""What becomes of requests whose Ray tasks fail, without a cluster."""

import asyncio
import importlib
from typing import Any

import pytest

from triathlon_runner.sandbox import SandboxError

pytest.importorskip("ray", reason="needs Ray: pip install -e '.[ray]'")
driver = importlib.import_module("triathlon_runner.cluster._driver")
NodeDiedError: Any = importlib.import_module("ray.exceptions").NodeDiedError


class FakeRemote:
    """In place of the remote function: doubles numbers, refuses 13, and loses the node under 77."""

    async def remote(self, method: str, arguments: tuple[int], keys: None) -> Any:
        (number,) = arguments
        await asyncio.sleep(0)
        if number == 77:
            raise NodeDiedError("the node was killed")
        if number == 13:
            raise SandboxError("refused")
        return "lite", number * 2


@pytest.fixture
def grader(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = driver.ClusterGrader(None, levels={"namespaces"})
    monkeypatch.setattr(made, "_answer", FakeRemote())
    return made


async def test_each_request_gets_its_own_result(grader: Any) -> None:
    """Of requests at the same time each gets its result, and only the one at fault fails."""
    calls = (grader.run(number) for number in range(100))
    results = await asyncio.gather(*calls, return_exceptions=True)
    failed = {number: str(result) for number, result in enumerate(results) if result != 2 * number}
    assert set(failed) == {13, 77}
    assert failed[13] == "refused"
    assert "lost under this work 4 times" in failed[77] and "the node was killed" in failed[77]
    assert all(isinstance(results[number], SandboxError) for number in failed)
    assert grader.level == "lite"


async def test_no_node_is_left(grader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the cluster has no CPU any more a request fails; it does not wait for ever."""

    class Silent:
        def remote(self, method: str, arguments: Any, keys: None) -> Any:
            return asyncio.get_running_loop().create_future()

    monkeypatch.setattr(driver, "_CHECK_SECONDS", 0.01)
    monkeypatch.setattr(driver.ray, "cluster_resources", lambda: {"memory": 1.0})
    monkeypatch.setattr(driver.ray, "cancel", lambda reference: reference.cancel())
    monkeypatch.setattr(grader, "_answer", Silent())
    with pytest.raises(SandboxError, match="no node of the cluster is left"):
        await grader.run(1)
