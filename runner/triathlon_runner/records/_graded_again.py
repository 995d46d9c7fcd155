"""The in-toto statement that `triathlon submit check` writes, as far as it is read again."""

from typing import Annotated, Final, Literal

from pydantic import Field

from triathlon_runner.records._base_model import Strict

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://in-toto.io/attestation/test-result/v0.1"


class GradedDigest(Strict):
    """Checksum of one results file."""

    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class GradedFile(Strict):
    """One results file that was checked."""

    name: str
    """`runs/<model>/<suite>.jsonl`."""
    digest: GradedDigest


class EngineVersion(Strict):
    """The engine's version: in-toto stores it as text."""

    version: Annotated[str, Field(pattern="^[0-9]{1,9}$")]


class GradingEngine(Strict):
    """The program that graded."""

    name: Literal["triathlon-engine"] = "triathlon-engine"
    annotations: EngineVersion


class GradedResult(Strict):
    """A predicate of the type `test-result`: each suite is a test."""

    result: Literal["PASSED", "FAILED"]
    configuration: tuple[GradingEngine]
    passed: tuple[str, ...] = Field(alias="passedTests")
    """Suites for which every stored reply led to the stored verdict again."""
    failed: tuple[str, ...] = Field(alias="failedTests")


class GradedStatement(Strict):
    """Which results files were graded again, by which engine, and with what result."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(default=STATEMENT_TYPE, alias="_type")
    subject: tuple[GradedFile, ...]
    predicate_type: Literal["https://in-toto.io/attestation/test-result/v0.1"] = Field(
        default=PREDICATE_TYPE, alias="predicateType"
    )
    predicate: GradedResult
