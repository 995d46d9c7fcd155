"""`runs/<model>/verified.json`: which results files `triathlon submit check` graded again."""

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from triathlon_runner.errors import UserError
from triathlon_runner.records import JudgedStatement
from triathlon_runner.store._folder import DEFAULT_ROOT, ResultsFolder
from triathlon_runner.store._lines import replace_file


@dataclass(frozen=True, slots=True)
class JudgedAgain:
    """The files of one model that were graded again with the same result."""

    engine_version: int
    sha256: Mapping[str, str]
    """By suite, of the file as it was then."""


def read_judged_again(folder: ResultsFolder, model: str) -> JudgedAgain | None:
    """Returns what a model's `verified.json` says; None where there is none.

    Raises:
        UserError: it cannot be used. The message does not repeat the file's name.
    """
    path = folder.verified(model)
    if not path.exists():
        return None
    if not path.is_file():  # a pipe would be waited for for ever
        raise _unusable(model, "something that is no plain file")
    try:
        statement = JudgedStatement.model_validate_json(path.read_bytes())
    except OSError as error:
        raise _unusable(model, f"a file that cannot be read ({error.strerror})") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "the file"
        got = f"{str(fault['input'])[:60]!r} ({where}: {fault['msg']})"
        raise _unusable(model, got) from None
    sha256: dict[str, str] = {}
    for file in statement.subject:
        suite = file.name.removeprefix(f"runs/{model}/").removesuffix(".jsonl")
        if file.name != f"runs/{model}/{suite}.jsonl":
            raise _unusable(model, f"{file.name!r}, a file of another folder")
        if suite in statement.predicate.passed:
            sha256[suite] = file.digest.sha256
    return JudgedAgain(int(statement.predicate.configuration[0].annotations.version), sha256)


def archive_statement(folder: ResultsFolder, model: str, suite: str, target: Path) -> None:
    """Takes one suite out of a model's `verified.json`; the statement as it was is copied to `target`.

    Without this the statement would name a file that is not there any more, and the next results of the suite
    would be called changed. One that names no other suite leaves the folder. A damaged one stays: the build
    names it.

    Raises:
        OSError: it cannot be copied or removed.
        UserError: it cannot be written anew.
    """
    path = folder.verified(model)
    if not path.is_file():
        return
    try:
        statement = JudgedStatement.model_validate_json(path.read_bytes())
    except ValidationError:
        return
    name, result = f"runs/{model}/{suite}.jsonl", statement.predicate
    others = tuple(file for file in statement.subject if file.name != name)
    if len(others) == len(statement.subject):
        return
    shutil.copy2(path, target)
    if not others:
        path.unlink()
        return
    passed = tuple(other for other in result.passed if other != suite)
    failed = tuple(other for other in result.failed if other != suite)
    predicate = result.model_copy(update={"passed": passed, "failed": failed})
    rest = statement.model_copy(update={"subject": others, "predicate": predicate})
    replace_file(path, json.dumps(rest.model_dump(mode="json", by_alias=True), indent=1) + "\n")


def how_to_judge_again(model: str) -> str:
    """The command that grades a model's results again and writes its `verified.json`, as a clone has them."""
    place = ResultsFolder(DEFAULT_ROOT)
    folder, file = (shlex.quote(path(model).as_posix()) for path in (place.of_model, place.verified))
    return f"`triathlon submit check {folder} --statement {file}` writes it anew"


def _unusable(model: str, got: str) -> UserError:
    return UserError(
        f"expected the statement of `triathlon submit check` about the results of {model!r}, got {got};"
        f" {how_to_judge_again(model)}"
    )
