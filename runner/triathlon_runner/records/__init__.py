"""What is written to `results/`: one strict, versioned schema per kind of record."""

from triathlon_runner.records._base import (
    SCHEMA_VERSION,
    FailingCase,
    Finish,
    Outcome,
    ProtocolHashes,
    Question,
    Reply,
    Strict,
    UnitRecord,
    Usage,
    Verdict,
    known_protocols,
)
from triathlon_runner.records._disciplines import (
    UNTAGGED,
    AnswerRecord,
    EvolvedRecord,
    LoopRecord,
    LoopStep,
    PredictionRecord,
    ProgramRecord,
    RuntimeRecord,
    StatementRecord,
)
from triathlon_runner.records._manifest import (
    DataSetRecord,
    Manifest,
    asks_base_model,
    samples_are_copies,
    sampling_of,
    sampling_sent,
)
from triathlon_runner.records._recorded import (
    MEASURED_HERE,
    RECORDED,
    Receipt,
    RecordedManifest,
    RecordedUnit,
    SourceDate,
    lines_without_texts,
)
