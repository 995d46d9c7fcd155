"""Variants of a loop suite through the real runner and a loopback server."""

from collections import Counter
from pathlib import Path

from support.loop_run import SUITE, LoopRun, asks_for_words, programmer
from support.model_server import ModelServer
from triathlon_runner import loop


async def test_variants_beside_their_baseline(tmp_path: Path) -> None:
    """Each has its own lines and protocol; what two of them ask alike is asked once."""
    async with ModelServer(programmer) as server:
        run = LoopRun(tmp_path, server.base_url, tasks=1)
        assert (await run(["prompts", "temperatures", "attacks"])).exit_code == 0
        temperatures = Counter(asked.body["temperature"] for asked in server.requests)
        sentences = {asked.prompt for asked in server.requests if asks_for_words(asked.prompt)}
    assert temperatures == {0: 3 + 5 * 1 + 3, 0.2: 3, 0.4: 3, 0.6: 3, 0.8: 3}
    assert len(sentences) == 6
    names = [SUITE, *(f"{SUITE}@{variant.name}" for variant in loop.VARIANTS)]
    lines = {name: run.records(name) for name in names}
    assert all(len(records) == 1 for records in lines.values())
    assert len({records[0].protocol for records in lines.values()}) == 13
    attacked = [lines[name][0] for name in names if "@attack" in name]
    assert all((record.max_loops, len(record.loops)) == (1, 1) for record in attacked)
    assert len({record.loops[0].prompt for record in (*attacked, *lines[SUITE])}) == 4
