"""Our own problems: original, written by hand, shipped with the package."""

from triathlon_runner.datasets.core._load import (
    SETS,
    VERSION,
    class_detail,
    classes,
    detail,
    problems,
    sha256,
)
from triathlon_runner.datasets.core._model import CoreClass, CoreProblem, Survivor, Wrong
from triathlon_runner.datasets.core._schema import CANARY

__all__ = [
    "CANARY",
    "SETS",
    "VERSION",
    "CoreClass",
    "CoreProblem",
    "Survivor",
    "Wrong",
    "class_detail",
    "classes",
    "detail",
    "problems",
    "sha256",
]
