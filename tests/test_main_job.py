"""The main job from the command line, against a scripted model behind a real loopback server."""

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.small_run import COMMAND, SmallRun, served

MODELS = """\
models:
  - id: scripted
    name: Scripted <b>Model</b> & Co
    organization: Nobody
    parameters: 1B
    api: {{base_url: "{url}", model: scripted, concurrency: 16}}
  - id: keyless
    name: Keyless
    api: {{base_url: "{url}", model: scripted, key_env: TRIATHLON_TEST_KEY_THAT_NOBODY_SETS}}
"""
RUN = "run --limit 3"


@pytest.fixture(autouse=True, scope="module")
def _without_official_data() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TRIATHLON_DATA", raising=False)
        yield


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallRun]:
    """A place where an undisturbed run has finished; a missing key skipped a model, and was named."""
    with served(tmp_path_factory.mktemp("calm"), rows=MODELS, latency=0.05) as place:
        place.expect(RUN, 0, "skipped model keyless", "TRIATHLON_TEST_KEY_THAT_NOBODY_SETS")
        yield place


def test_what_a_run_leaves(calm: SmallRun) -> None:
    """Lines and a manifest of each discipline."""
    written = {path.relative_to(calm.results / "runs/scripted") for path in calm.results.rglob("*.jsonl")}
    assert {"loop", "runtime", "evolved"} <= {path.parts[0] for path in written}
    for path in written:
        assert calm.manifest(str(path.with_suffix("")), "scripted").exists()


def test_a_second_run_asks_nothing(calm: SmallRun) -> None:
    asked = len(calm.requests)
    before = _file_states(calm.root / "results/runs")
    prune = "cache prune --model"  # results put aside alone would come from the cache again
    calm.expect(RUN, 0, "all units had been measured before", "0 units finished, 0 open", prune)
    assert len(calm.requests) == asked
    assert _file_states(calm.root / "results/runs") == before


def _file_states(folder: Path) -> dict[Path, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_the_site_is_built_from_the_results(calm: SmallRun) -> None:
    calm.expect("build", 0)
    index = (calm.root / "_site/index.html").read_text()
    assert "Scripted &lt;b&gt;Model&lt;/b&gt; &amp; Co" in index
    assert "<b>Model</b>" not in index
    assert all(word in index.lower() for word in ("loop", "runtime", "evolved"))


@pytest.mark.slow
def test_kills_lose_and_double_nothing(tmp_path: Path, calm: SmallRun) -> None:
    """Ten times SIGKILL in the middle; what is there in the end equals an undisturbed run, timing aside."""
    dice = random.Random(7)  # the moments differ with the machine's load anyway
    environment = {**os.environ, "TRIATHLON_CACHE": str(tmp_path / "cache")}
    (tmp_path / "models.yaml").write_text((calm.root / "models.yaml").read_text())  # the same server
    for _ in range(10):
        with suppress(subprocess.TimeoutExpired):  # at which it is killed
            subprocess.run(
                [*COMMAND, *RUN.split()],
                cwd=tmp_path,
                env=environment,
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                timeout=2.0 + dice.random() * 3.0,
            )
    place = SmallRun(tmp_path)
    place.expect(RUN, 0)
    assert place.timeless("cpu_seconds") == calm.timeless("cpu_seconds")
