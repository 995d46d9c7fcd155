"""The main job from the command line, against a scripted model behind a real loopback server."""

import json
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.gate_place import GatePlace
from support.model_server import model_server_process

MODELS = """\
models:
  - id: scripted
    name: Scripted <b>Model</b> & Co
    organization: Nobody
    parameters: 1B
    api: {{base_url: "{base_url}", model: scripted, concurrency: 16}}
  - id: keyless
    name: Keyless
    api: {{base_url: "{base_url}", model: scripted, key_env: TRIATHLON_TEST_KEY_THAT_NOBODY_SETS}}
"""
RUN = ("run", "--limit", "3")
TIMING = {"seconds", "cpu_seconds", "started", "ended", "tokens_per_second", "bytes"}
"""The length of a file is that of its seconds, too."""


class Place(GatePlace):
    """With models of its own."""

    def __init__(self, root: Path, base_url: str) -> None:
        super().__init__(root, base_url)
        (root / "models.yaml").write_text(MODELS.format(base_url=base_url))

    def start(self) -> subprocess.Popen[bytes]:
        """The same run, in a process that can be killed."""
        command = [str(Path(sys.executable).with_name("triathlon")), *RUN]
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )

    def results(self) -> dict[str, object]:
        """Every line and manifest, without the fields that tell the time."""
        found: dict[str, object] = {}
        for path in sorted((self.root / "results/runs").rglob("*.json*")):
            lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
            found[str(path.relative_to(self.root))] = [_timeless(json.loads(line)) for line in lines]
        return found


def _timeless(value: object) -> object:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key not in TIMING}
    if isinstance(value, list):
        return [_timeless(inner) for inner in value]
    return value


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server") / "requests.jsonl"


@pytest.fixture(scope="module")
def base_url(log: Path) -> Iterator[str]:
    script = "support.core_model:answer"
    with model_server_process(script, "--latency", "0.05", "--log", str(log)) as url:
        yield url


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory, base_url: str) -> Place:
    """A place where an undisturbed run has finished."""
    place = Place(tmp_path_factory.mktemp("calm"), base_url)
    place.call(*RUN, code=0)
    return place


def test_what_a_run_leaves(calm: Place) -> None:
    """Lines and a manifest of each discipline; a missing key skips a model, and is named."""
    written = {Path(name).parent.name for name in calm.results() if name.endswith(".jsonl")}
    assert {"loop", "runtime", "evolved"} <= written
    manifests = [name for name in calm.results() if name.endswith(".manifest.json")]
    assert len(manifests) == len([name for name in calm.results() if name.endswith(".jsonl")])
    skipped = (calm.root / "results/runs/keyless/skipped.txt").read_text()
    assert "TRIATHLON_TEST_KEY_THAT_NOBODY_SETS" in skipped


def test_a_second_run_asks_nothing(calm: Place, log: Path) -> None:
    asked = log.read_text().count("\n")
    before = _file_states(calm.root / "results/runs")
    done = calm.call(*RUN, code=0)
    said = done.stdout + done.stderr
    assert "all units had been measured before" in said and "0 units finished, 0 open" in said
    assert "cache prune --model" in said  # results put aside alone would come from the cache again
    assert log.read_text().count("\n") == asked
    assert _file_states(calm.root / "results/runs") == before


def _file_states(folder: Path) -> dict[Path, tuple[bytes, int]]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_the_site_is_built_from_the_results(calm: Place) -> None:
    calm.call("build", code=0)
    index = (calm.root / "_site/index.html").read_text()
    assert "Scripted &lt;b&gt;Model&lt;/b&gt; &amp; Co" in index
    assert "<b>Model</b>" not in index
    assert all(word in index.lower() for word in ("loop", "runtime", "evolved"))


@pytest.mark.slow
def test_kill_at_random_moments_loses_and_doubles_nothing(tmp_path: Path, base_url: str, calm: Place) -> None:
    """Ten times SIGKILL in the middle; what is there in the end equals an undisturbed run, timing aside."""
    place = Place(tmp_path, base_url)
    dice = random.Random(7)  # the moments differ with the machine's load anyway
    killed = 0
    while killed < 10:
        process = place.start()
        try:
            process.wait(2.0 + dice.random() * 3.0)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += 1
    place.call(*RUN, code=0)
    assert place.results() == calm.results()
