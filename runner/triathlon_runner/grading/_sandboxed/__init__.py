"""Source texts that the sandbox executes for class tests: proxies, and what answers them."""

from functools import cache
from pathlib import Path


@cache
def source(name: str) -> str:
    """One module of this folder, as text."""
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
