"""The files of our problems: TOML, one a problem; strict, so that a misspelt key is refused."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from triathlon_runner.datasets._problem import Oracle

CANARY: Final = "triathlon-core canary 2f9d61c8-7b0e-4a53-9c1d-e84a5f30b7d6: keep out of training data"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    canary: str


class WrongEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    why: str
    code: str


class SurvivorEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    mutant: str
    reason: str


class ComparisonEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    oracle: Oracle
    tolerance: float = 0.0
    checker: str = ""


class ProblemFile(_File):
    """seeds, difficult, creative, subtle, combine, tool_use."""

    level: int
    topics: list[str]
    parents: list[str] = []
    """Names of seeds; two for combine."""
    helpers: str = ""
    """tool_use: the functions offered, with docstrings."""
    prompt: str
    reference: str
    requires: str = ""
    comparison: ComparisonEntry = ComparisonEntry(oracle="exact")
    inputs: dict[str, str]
    wrong: list[WrongEntry]
    survivors: list[SurvivorEntry] = []
    translations: dict[str, str] = {}


class RewordedFile(_File):
    """verbose, concise: the seed of the same name, asked in other words."""

    prompt: str


class HalfEntry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    prompt: str
    reference: str
    requires: str = ""
    comparison: ComparisonEntry = ComparisonEntry(oracle="exact")
    inputs: dict[str, str]
    survivors: list[SurvivorEntry] = []


class DecomposedFile(_File):
    """decompose: the seed of the same name, split into two problems."""

    half: list[HalfEntry]
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


def folder(name: str) -> Traversable:
    return files("triathlon_runner.datasets.core") / name


def _names(name: str) -> list[str]:
    place = folder(name)
    if not place.is_dir():
        return []
    return sorted(entry.name for entry in place.iterdir() if entry.name.endswith(".toml"))


def _parse(name: str, file_name: str, schema: type[F]) -> F:
    text = (folder(name) / file_name).read_text(encoding="utf-8")
    try:
        return schema.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        message = f"core/{name}/{file_name}: {error}"
        raise ValueError(message) from error


def read_folder(name: str, schema: type[F]) -> Iterator[tuple[str, F]]:
    """Every file of a folder in the order of its names, as (stem, content).

    Raises:
        ValueError: a file is no TOML or breaks the schema; names the file.
    """
    for file_name in _names(name):
        yield file_name.removesuffix(".toml"), _parse(name, file_name, schema)


@cache
def read_problems(name: str) -> dict[str, ProblemFile]:
    return dict(read_folder(name, ProblemFile))


@cache
def read_reworded(name: str) -> dict[str, RewordedFile]:
    return dict(read_folder(name, RewordedFile))


@cache
def read_decomposed() -> dict[str, DecomposedFile]:
    return dict(read_folder("decompose", DecomposedFile))


@cache
def read_classes() -> dict[str, ClassFile]:
    return dict(read_folder("classes", ClassFile))
