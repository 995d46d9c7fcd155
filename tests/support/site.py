"""A small site for tests: three models on a few of our own suites."""

from collections.abc import Sequence
from pathlib import Path

from support.results import FakeModel, FakeSuite, write_results
from triathlon_runner import catalogue
from triathlon_runner.suites import SuiteEntry
from triathlon_site.build import BuildReport, build

SUITES = (
    "loop/core",
    "runtime/core",
    "evolved/core-seeds",
    "evolved/core-difficult",
    "evolved/core-creative",
    "evolved/core-subtle",
    "evolved/core-combine",
    "evolved/core-tool_use",
)
MODELS = (FakeModel("strong", 2.0, 0.95), FakeModel("middle", 0.5, 0.8), FakeModel("weak", -2.0, 0.5))


def entries(ids: Sequence[str] = SUITES) -> tuple[SuiteEntry, ...]:
    return catalogue.select(ids)


def small_results(root: Path, models: Sequence[FakeModel] = MODELS, *, tasks: int = 12) -> Path:
    """Results of the models on every suite."""
    write_results(root, models, [FakeSuite(entry, tasks=tasks) for entry in entries()])
    return root


def build_small(root: Path, *, strict: bool = False, tasks: int = 12) -> BuildReport:
    """Builds `root/_site` from `root/results`, which it makes where it is not there."""
    results = root / "results"
    if not results.exists():
        small_results(results, tasks=tasks)
    return build(results, root / "_site", None, strict, cache=root / "cache")


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
