"""`runs/<model>/verified.json`: which results files `triathlon submit check` graded again."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.records import GradedStatement
from triathlon_runner.store._faults import validation_fault
from triathlon_runner.store._folder import VERIFIED, ResultsFolder


@dataclass(frozen=True, slots=True)
class GradedAgain:
    """The files of one model that were graded again with the same result."""

    engine_version: int
    sha256: Mapping[str, str]
    """Of each suite's file, as it was then."""


def read_graded_again(folder: ResultsFolder, model: str) -> GradedAgain | None:
    """Returns what a model's `verified.json` says; None where there is none.

    Raises:
        UserError: it cannot be used. The message does not name the file.
    """
    path = folder.verified(model)
    if not path.exists():
        return None
    if path.is_symlink() or not path.is_file():  # a link leads anywhere, reading a pipe would wait for ever
        raise _unusable(model, "something that is no plain file")
    try:
        statement = GradedStatement.model_validate_json(path.read_bytes())
    except OSError as error:
        raise _unusable(model, f"a file that cannot be read ({error.strerror})") from None
    except ValidationError as error:
        got = f"{str(error.errors()[0]['input'])[:60]!r} ({validation_fault(error)})"
        raise _unusable(model, got) from None
    sha256: dict[str, str] = {}
    for file in statement.subject:
        suite = file.name.removeprefix(f"runs/{model}/").removesuffix(".jsonl")
        if file.name != f"runs/{model}/{suite}.jsonl":
            raise _unusable(model, f"{file.name!r}, a file of another folder")
        if suite in statement.predicate.passed:
            sha256[suite] = file.digest.sha256
    return GradedAgain(int(statement.predicate.configuration[0].annotations.version), sha256)


def how_to_grade_again(model: str) -> str:
    """Returns how to write a model's `verified.json` anew, wherever the results lie."""
    return (
        f"`triathlon submit check DIR --statement DIR/{VERIFIED}` writes it anew, with the folder"
        f" runs/{model} of these results as DIR"
    )


def _unusable(model: str, got: str) -> UserError:
    return UserError(
        f"expected the statement of `triathlon submit check` about the results of {model!r}, got {got};"
        f" {how_to_grade_again(model)}"
    )
