"""The files of our problems: TOML, one a problem; strict, so that a misspelt key is refused."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triathlon_runner.datasets._problem import Oracle

CANARY: Final = "triathlon-core canary 2f9d61c8-7b0e-4a53-9c1d-e84a5f30b7d6: keep out of training data"


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _File(_Entry):
    canary: str


class WrongEntry(_Entry):
    why: str
    code: str


class SurvivorEntry(_Entry):
    mutant: str
    reason: str


class ComparisonEntry(_Entry):
    oracle: Oracle
    tolerance: float = 0.0


class FunctionEntry(_Entry):
    """A function to write."""

    prompt: str
    reference: str
    requires: str = ""
    comparison: ComparisonEntry = ComparisonEntry(oracle="exact")
    inputs: dict[str, str]
    survivors: list[SurvivorEntry] = []


class ProblemFile(FunctionEntry, _File):
    """seeds, difficult, creative, subtle, combine, tool_use."""

    level: int
    topics: list[str]
    parents: list[str] = []
    """Names of seeds; two for combine."""
    helpers: str = ""
    """tool_use: the functions offered, with docstrings."""
    wrong: list[WrongEntry]
    translations: dict[str, str] = {}


class RewordedFile(_File):
    """verbose, concise: the seed of the same name, asked in other words."""

    prompt: str


class DecomposedFile(_File):
    """decompose: the seed of the same name, split into two problems."""

    half: list[FunctionEntry]
    join: str
    """A program that solves the seed by calling both halves."""


class ClassFile(_File):
    level: int
    topics: list[str]
    class_name: str
    reference: str
    test: str
    survivors: list[SurvivorEntry] = []


F = TypeVar("F", bound=_File)


def _read(name: str, schema: type[F]) -> dict[str, F]:
    """Returns every file of a folder by its stem, in the order of the names; none for no folder."""
    content: dict[str, F] = {}
    for path in sorted((Path(__file__).parent / name).glob("*.toml")):
        try:
            content[path.stem] = schema.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise ValueError(f"core/{name}/{path.name}: {error}") from error
    return content


@cache
def read_problems(name: str) -> dict[str, ProblemFile]:
    return _read(name, ProblemFile)


@cache
def read_reworded(name: str) -> dict[str, RewordedFile]:
    return _read(name, RewordedFile)


@cache
def read_decomposed() -> dict[str, DecomposedFile]:
    return _read("decompose", DecomposedFile)


@cache
def read_classes() -> dict[str, ClassFile]:
    return _read("classes", ClassFile)
