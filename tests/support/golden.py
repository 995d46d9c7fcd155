"""The golden site: a small site compared whole, so that no page changes unseen.

`PYTHONPATH=tests .venv/bin/python -m support.golden` writes it again; the change of `tests/site/golden/`
is then looked at like any other.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from unittest import mock

from support.results import FakeModel, FakeSuite, write_results
from support.site import PUBLISHED, SUITES, change, entries, files, json_lines, registry, write_lines
from triathlon_site.build import build

FOLDER: Final = Path(__file__).parents[1] / "site/golden"
HOSTILE: Final = "\"><script>alert('x')</script>&amp;{{ 7 * 7 }}\u202e"
HOSTILE_MODEL: Final = "<img src=x onerror=alert(1)>'\"&{{ 7 * 7 }} ünï"
MODELS: Final = (
    FakeModel("strong", 2.0, 0.95),
    FakeModel(HOSTILE_MODEL, 0.0, 0.8),
    FakeModel("weak", -1.5, 0.5),
)
ROWS: Final[dict[str, dict[str, Any]]] = {
    "strong": {"name": f"Strong {HOSTILE}", "organization": HOSTILE, "notes": HOSTILE, "kind": "instruct"}
    | {"parameters": "7B", "license": "mit", "open_weights": True, "released": "2025-06"}
    | {"link": "javascript:alert(1)"},
    "weak": {"name": "Weak", "parameters": "135M", "price": {"input": 1, "output": 3}},
}
VARIANTS: Final = ("loop/core@prompt-upper", "loop/core@attack-upper", "translation/core", "runtime/core@cot")
SHOWN: Final = ("loop.html", "evidence/strong/loop-core.html")
"""Pages that are kept; the numbers of all others are compared with the data files (`test_random_sites`)."""
_BLOCK: Final = re.compile(r"(?<!\n)(?=<(?:tr|t[hd]|li|p|h\d|section|div|dt|dd|g|path|text|circle|rect|a)\b)")


def golden_results(root: Path) -> Path:
    """Three models, one with a hostile name, on the main suites and a variant of each kind; with faults."""
    suites = [FakeSuite(entry, tasks=6) for entry in entries((*SUITES, *VARIANTS))]
    write_results(root, MODELS, suites)
    change(root / f"runs/weak/{suites[1].entry.id}.manifest.json", open_units=2)
    _make_hostile(root / "runs/strong/loop/core.jsonl")
    broken = root / "runs/weak/evolved/core-subtle.jsonl"
    broken.write_text("nonsense\n" + broken.read_text())
    (root / "runs/weak/evolved/core-combine.manifest.json").unlink()
    return root


def golden_site(root: Path) -> dict[str, bytes]:
    """Every file of the site, built under `root` with SOURCE_DATE_EPOCH fixed."""
    results = golden_results(root / "results")
    shutil.copytree(PUBLISHED, results / "published")
    with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1770000000"}):
        build(results, root / "_site", registry(ROWS), cache=root / "cache")
    return files(root / "_site")


def shown(site: Mapping[str, bytes]) -> dict[str, str]:
    """The pages that are kept, with a line a tag, without scripts, styles, hashes and the version."""
    return {path: _normal(site[path].decode()) for path in SHOWN}


def stored() -> dict[str, str]:
    """The golden site as it was last accepted."""
    return {path: content.decode() for path, content in files(FOLDER).items()}


def _normal(text: str) -> str:
    text = re.sub(r"-[0-9a-f]{8,16}\.(css|js|svg)\b", r"-HASH.\1", text)
    text = re.sub(r"<style>.*?</style>", "<style>STYLE</style>", text, flags=re.DOTALL)
    text = re.sub(r"(<script[^>]*>).*?</script>", r"\1SCRIPT</script>", text, flags=re.DOTALL)
    text = re.sub(r"'sha256-[^']+'", "'sha256-HASH'", text)
    text = text.replace(f"Triathlon {version('triathlon-leaderboard')}", "Triathlon VERSION")
    text = re.sub(r"(?m)[ \t]+$", "", _BLOCK.sub("\n", text))
    return re.sub(r"\n{2,}", "\n", text).rstrip("\n") + "\n"


def _make_hostile(path: Path) -> None:
    """What a model wrote tries to become markup."""
    records = json_lines(path)
    for record in records:
        record["task_id"] += HOSTILE if record["task_id"].endswith("/003") else ""
        for step in record["loops"]:
            step["program"] = HOSTILE + step["program"]
            step["reply"]["text"] = HOSTILE
    write_lines(path, records)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = shown(golden_site(Path(folder)))
    shutil.rmtree(FOLDER, ignore_errors=True)
    for path, text in found.items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(text.encode())
