"""How much memory a new process may take."""

from pathlib import Path

import pytest

from triathlon_runner.sandbox import _machine as memory


@pytest.mark.parametrize(
    ("groups", "files", "left"),
    [
        ("0::/\n", {"memory.max": "max"}, 8 << 30),
        (
            "0::/own\n",
            {
                "own/memory.max": "1000",
                "own/memory.current": "700",
                "own/memory.stat": "anon 500\ninactive_file 200\n",
            },
            500,
        ),
        (
            "4:cpu,memory:/\n0::/\n",
            {
                "memory/memory.limit_in_bytes": "1000",
                "memory/memory.usage_in_bytes": "900",
                "memory/memory.stat": "total_inactive_file 0\n",
            },
            100,
        ),
    ],
)
def test_memory_that_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, groups: str, files: dict[str, str], left: int
) -> None:
    """The least of what the machine and the control groups (of both versions) have; cache counts as left."""
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable: 8388608 kB\n")
    (tmp_path / "cgroup").write_text(groups)
    for name, text in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(text)
    monkeypatch.setattr(memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_OWN_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path / "groups")
    assert memory.available_bytes() == left
