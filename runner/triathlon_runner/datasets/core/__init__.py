"""Our own problems: original, written by hand, shipped with the package."""

from triathlon_runner.datasets.core._load import SETS, VERSION, classes, problems, sha256
from triathlon_runner.datasets.core._schema import CANARY

__all__ = ["CANARY", "SETS", "VERSION", "classes", "problems", "sha256"]
