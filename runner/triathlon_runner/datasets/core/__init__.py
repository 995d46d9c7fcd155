"""Our own problems: original, written by hand, shipped with the package."""

from triathlon_runner.datasets.core._load import SETS, VERSION, classes, detail, problems, sha256
from triathlon_runner.datasets.core._model import CoreProblem, Survivor, Wrong

__all__ = [
    "SETS",
    "VERSION",
    "CoreProblem",
    "Survivor",
    "Wrong",
    "classes",
    "detail",
    "problems",
    "sha256",
]
