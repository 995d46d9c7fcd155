"""Which part of the runner may import which: data flows one way, from records to the command line."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[2] / "runner" / "triathlon_runner"

LAYERS = (
    (
        "errors",
        "__version__",
        "cache",
        "languages",
        "noise",
        "syntax",
        "terminal",
        "unit_pages",
    ),
    ("foreign_files",),
    ("records", "yaml_file", "datasets", "engine_version", "concurrency"),
    ("memo", "pasted_keys"),
    (
        "store",
        "metrics",
        "prompts",
        "replies",
        "sandbox",
    ),
    ("llm",),
    ("serving", "grading"),
    ("models_yaml",),
    ("suites", "cluster"),
    ("loop", "runtime", "evolved"),
    ("translation",),
    ("catalogue",),
    ("schedule",),
    ("estimates", "verify", "gate"),
    ("imports", "submit"),
    ("cli",),
)
"""From the bottom up. A part imports from the layers below its own, and from no part of its own layer."""
HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}


def imported_modules(path: Path) -> Iterator[tuple[str, ...]]:
    """Our modules that a file imports, without the package's name; `site` for the site builder."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "triathlon_runner":
            names = [f"triathlon_runner.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        for package, *module in (name.split(".") for name in names):
            if package == "triathlon_runner" and module:
                yield tuple(module)
            elif package == "triathlon_site":
                yield ("site",)


def parts() -> dict[str, list[Path]]:
    """The files of each part of the runner."""
    files: dict[str, list[Path]] = {}
    for path in sorted(RUNNER.rglob("*.py")):
        module = path.relative_to(RUNNER).with_suffix("").parts
        if module != ("__init__",):
            files.setdefault(module[0], []).append(path)
    return files


@pytest.mark.parametrize("part", parts())
def test_imports_point_down(part: str) -> None:
    """A part of the runner imports only from the layers below it, and never from the site builder."""
    assert part in HEIGHT, f"{part} is new: put it into LAYERS, above all that it imports"
    wrong = [
        f"{path.relative_to(RUNNER)} imports {'.'.join(module)}"
        for path in parts()[part]
        for module in imported_modules(path)
        if module[0] != part and HEIGHT.get(module[0], len(LAYERS)) >= HEIGHT[part]
    ]
    assert not wrong


def test_nothing_is_listed_twice() -> None:
    """Each part stands in one layer, and each part that is listed exists."""
    listed = [part for layer in LAYERS for part in layer]
    assert len(listed) == len(set(listed))
    assert set(listed) - {"__version__"} <= set(parts())
