"""`runs/<model>/verified.json`: the statement of which files `triathlon submit check` graded again."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import parse_json, why_not_plain
from triathlon_runner.store._folder import VERIFIED, ResultsFolder


@dataclass(frozen=True, slots=True)
class GradedAgain:
    """The files of one model that were graded again with the same result."""

    engine_version: int
    sha256: Mapping[str, str]
    """Of each suite's file, as it was then."""


def graded_again_statement(
    model: str, engine_version: int, sha256: Mapping[str, str], passed: Collection[str], *, result: bool
) -> dict[str, Any]:
    """Returns an unsigned in-toto Statement (version 1) with a `test-result` predicate (version 0.1).

    `sha256`: of the file of each suite. `passed`: suites that are whole and have no problem. `result`:
    whether the whole submission is so.
    """
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": f"runs/{model}/{suite}.jsonl", "digest": {"sha256": digest}}
            for suite, digest in sha256.items()
        ],
        "predicateType": "https://in-toto.io/attestation/test-result/v0.1",
        "predicate": {
            "result": "PASSED" if result else "FAILED",
            "configuration": [{"name": "triathlon-engine", "annotations": {"version": str(engine_version)}}],
            "passedTests": [suite for suite in sha256 if suite in passed],
            "failedTests": [suite for suite in sha256 if suite not in passed],
        },
    }


def read_graded_again(folder: ResultsFolder, model: str) -> GradedAgain | None:
    """Returns what a model's `verified.json` says; None where there is none."""
    path = folder.verified(model)
    if not path.exists():
        return None
    got: object = "no plain file"  # a link leads anywhere, a pipe waits
    if not why_not_plain(path, path.parent) and path.is_file():
        try:
            got = "no JSON"
            got = document = parse_json(path.read_bytes())
            predicate, prefix = document["predicate"], f"runs/{model}/"
            version = int(predicate["configuration"][0]["annotations"]["version"])
            sha256 = {
                file["name"].removeprefix(prefix).removesuffix(".jsonl"): file["digest"]["sha256"]
                for file in document["subject"]
            }
            passed, result = predicate["passedTests"], predicate["result"] == "PASSED"
            if document == graded_again_statement(model, version, sha256, passed, result=result):
                return GradedAgain(version, {suite: sha256[suite] for suite in passed})
        except (AttributeError, LookupError, OSError, TypeError, ValueError, OverflowError):
            pass
    raise UserError(
        f"expected the statement of `triathlon submit check` about the results of {model!r}, got"
        f" {got!r:.120}; {how_to_grade_again(model)}"
    )


def how_to_grade_again(model: str) -> str:
    """Returns how to write a model's `verified.json` anew, wherever the results lie."""
    return (
        f"`triathlon submit check DIR --statement DIR/{VERIFIED}` writes it anew, with the folder"
        f" runs/{model} of these results as DIR"
    )
