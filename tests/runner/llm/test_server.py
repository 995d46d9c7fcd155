"""Who is behind an address, as servers of each kind tell it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.model_server import ModelServer
from support.opened import opened
from support.server_replies import Asked, Response, Said, Status
from triathlon_runner.llm import Chat, Limits, Message, ModelUnavailableError, OpenAI, Sampling, open_model


def listing(*names: str) -> dict[str, Any]:
    return {"GET /v1/models": {"data": [{"id": name} for name in names]}}


def status_and_body(value: dict[str, Any]) -> Any:
    """An object that says a status is what `ModelServer` takes as a reply of that status."""
    return (value["status"], value["body"]) if value.keys() == {"status", "body"} else value


SERVERS = json.loads(Path(__file__).with_name("servers.json").read_text(), object_hook=status_and_body)


@pytest.mark.parametrize("case", SERVERS, ids=lambda case: case["case"])
async def test_what_servers_tell(case: dict[str, Any]) -> None:
    """Weights, quantisation and context are identity; a busy server is asked until it lists its models."""
    row = dict(case["row"])
    async with ModelServer(lambda asked: "yes", paths=case["paths"]) as server:
        config = OpenAI(base_url=server.base_url + row.pop("path", ""), model="m", **row)
        async with open_model("m", "instruct", config, limits=Limits(first_wait=0.01)) as model:
            info = await model.identify_server()
    assert (info.name, info.identity, server.count) == (case["name"], case["identity"], 0)


def to_any_name(asked: Asked) -> str:
    return "yes"


def to_known_names(asked: Asked) -> str | Response:
    return Status(404, "The model does not exist") if "no-such" in asked.body["model"] else "yes"


def without_a_channel(asked: Asked) -> str | Response:
    return Status(503, "no channel for this model") if "no-such" in asked.body["model"] else "yes"


TWO = ["smol", "gem"]
QUICK = {"limits": Limits(first_wait=0.01)}


@pytest.mark.parametrize(
    ("names", "row", "script", "asked", "says"),
    [
        (TWO, {}, to_any_name, 1, "stop: the server does not list 'm' and answers to any name"),
        (TWO, {}, to_known_names, 1, "the server does not list 'm' (it lists 'smol', 'gem')"),
        (TWO, QUICK, without_a_channel, 5, "the server does not list 'm' (it lists 'smol', 'gem')"),
        (TWO, {"served_as": ("smol",)}, to_any_name, 0, ""),
        (["m:latest"], {}, to_any_name, 0, ""),
        (["m@main"], {}, to_any_name, 0, ""),
        (["models/m"], {}, to_any_name, 0, ""),
        (["m:7b"], {}, to_any_name, 1, "stop: the server does not list 'm'"),
    ],
    ids=range(8),
)
async def test_a_name_that_is_not_listed(
    names: list[str], row: dict[str, Any], script: Any, asked: int, says: str
) -> None:
    """A server that does not list the name is asked for a nonsense name; if it answers, the model stops."""
    lines: list[str] = []
    async with opened(script, paths=listing(*names), model="m", say=lines.append, **row) as (server, model):
        if says.startswith("stop: "):
            with pytest.raises(ModelUnavailableError, match=says[6:]) as caught:
                await model.identify_server()
            assert f"it lists {', '.join(map(repr, names))}" in str(caught.value)
            assert "served_as" in str(caught.value) and model.stats.stopped
        else:
            await model.identify_server()
            assert [line for line in lines if says in line] == lines
            assert bool(lines) is bool(says)
    assert server.count == asked


async def test_a_context_that_cuts_without_a_word() -> None:
    """Ollama cuts long questions silently: that is said once, and an estimate stops no model."""
    lines: list[str] = []
    long = Chat((Message("user", "x" * 14_000),))
    ollama = SERVERS[0]["paths"]
    async with opened(lambda asked: "yes", paths=ollama, model="m", say=lines.append) as (_, model):
        await model.identify_server()
        for limit in (1024, 1025):
            assert (await model.ask(long, Sampling(limit))).reply.text == "yes"
    assert len(lines) == 1 and "OLLAMA_CONTEXT_LENGTH" in lines[0]


@pytest.mark.parametrize(
    ("response", "listed", "says"),
    [
        (Status(404, "No such model"), ["smol", "gem"], "it lists 'smol', 'gem'"),
        (Said("yes", model="smol"), ["m", "smol"], r'`served_as: \["smol"\]`'),
    ],
    ids=["unknown", "alias"],
)
async def test_the_list_of_names_explains_the_first_reply(
    response: Response, listed: list[str], says: str
) -> None:
    """An unknown name names those of the list; a reply in one of them stops the model with the setting."""
    paths = listing(*listed)
    async with opened(lambda _: response, paths=paths, model="m") as (server, model):
        await model.identify_server()
        before = server.count
        with pytest.raises(ModelUnavailableError, match=says):
            await model.ask(Chat((Message("user", "q"),)), Sampling(8))
    assert server.count == before + 1
