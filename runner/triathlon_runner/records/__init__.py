"""What is written to `results/`: one strict, versioned schema per kind of record."""

from triathlon_runner.records._base import (
    SCHEMA_VERSION,
    Finish,
    Outcome,
    Reply,
    Strict,
    UnitRecord,
    Usage,
)
from triathlon_runner.records._evolved import EvolvedRecord
from triathlon_runner.records._graded_again import (
    EngineVersion,
    GradedDigest,
    GradedFile,
    GradedResult,
    GradedStatement,
    GradingEngine,
)
from triathlon_runner.records._loop import LoopRecord, LoopStep
from triathlon_runner.records._manifest import (
    ROW_SETTINGS,
    DataSetRecord,
    Manifest,
    samples_are_copies,
)
from triathlon_runner.records._recorded import (
    RECORDED,
    Receipt,
    RecordedLine,
    RecordedLoop,
    RecordedManifest,
    RecordedProgram,
    RecordedTask,
    RecordedUnit,
)
from triathlon_runner.records._runtime import AnswerRecord, PredictionRecord, RuntimeRecord, StatementRecord
from triathlon_runner.records._verdict import FailingCase, JudgedBy, Verdict

__all__ = [
    "RECORDED",
    "ROW_SETTINGS",
    "SCHEMA_VERSION",
    "AnswerRecord",
    "DataSetRecord",
    "EngineVersion",
    "EvolvedRecord",
    "FailingCase",
    "Finish",
    "GradedDigest",
    "GradedFile",
    "GradedResult",
    "GradedStatement",
    "GradingEngine",
    "JudgedBy",
    "LoopRecord",
    "LoopStep",
    "Manifest",
    "Outcome",
    "PredictionRecord",
    "Receipt",
    "RecordedLine",
    "RecordedLoop",
    "RecordedManifest",
    "RecordedProgram",
    "RecordedTask",
    "RecordedUnit",
    "Reply",
    "RuntimeRecord",
    "StatementRecord",
    "Strict",
    "UnitRecord",
    "Usage",
    "Verdict",
    "samples_are_copies",
]
