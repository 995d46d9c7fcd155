"""Our own problems: original, written by hand, shipped with the package."""

from triathlon_runner.datasets.core._load import CANARY, SETS, VERSION, classes, problems, sha256
