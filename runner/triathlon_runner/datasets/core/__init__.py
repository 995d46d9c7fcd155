"""Our own problems: original, written by hand, shipped with the package."""

from triathlon_runner.datasets.core._load import SETS, VERSION, classes, detail, problems, sha256
from triathlon_runner.datasets.core._model import CoreProblem, Survivor, Wrong
from triathlon_runner.datasets.core._schema import CANARY

__all__ = [
    "CANARY",
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
