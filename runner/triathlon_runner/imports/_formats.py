"""The formats by the name that the command takes, the logs at its paths, and the models that they name."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import files_below
from triathlon_runner.imports._every_eval_ever import read_every_eval_ever
from triathlon_runner.imports._foreign import Foreign
from triathlon_runner.imports._inspect import read_inspect
from triathlon_runner.imports._readers import (
    cruxeval_model_and_suite,
    read_cruxeval,
    read_evaloop,
    read_evalplus,
    read_lm_eval,
    read_reval,
)
from triathlon_runner.records import (
    EvolvedRecord,
    LoopRecord,
    PredictionRecord,
    RuntimeRecord,
    UnitRecord,
)


@dataclass(frozen=True, slots=True)
class Format:
    """Another program's log."""

    name: str
    about: str
    disciplines: tuple[str, ...]
    """Disciplines of the suites that it can be imported into."""
    record: type[UnitRecord]
    """Record of these suites; `UnitRecord` where any suite of the disciplines will do."""
    read: Callable[[Path], Iterator[Foreign]]
    model_and_suite: Callable[[Path], tuple[str, str] | None] = lambda _: None
    """Returns the model and suite that a log's file name stands for; None where it names no suite."""
    is_folder: bool = False
    """Whether a log is a folder; of other formats a folder holds several logs."""
    note: str = ""
    """What to know before comparing with the scores that the other program gave."""


FORMATS = {
    log_format.name: log_format
    for log_format in (
        Format(
            "evalplus",
            "EvalPlus samples: task_id, solution or completion",
            ("evolved",),
            EvolvedRecord,
            read_evalplus,
        ),
        Format(
            "evoeval",
            "EvoEval samples: task_id, solution or completion",
            ("evolved",),
            EvolvedRecord,
            read_evalplus,
        ),
        Format(
            "evaloop",
            "EVALOOOP: a model's page as JSON, tasks by the loops they sustained",
            ("loop",),
            LoopRecord,
            read_evaloop,
        ),
        Format(
            "reval",
            "REval: the folder model_generations with its logs of all four tasks",
            ("runtime",),
            RuntimeRecord,
            read_reval,
            is_folder=True,
            note="path and IC can exceed the published values: REval's own harness rejects answers that begin"
            " with a line break, and 188 of its 3,152 truths differ from ours (see the method page)",
        ),
        Format(
            "cruxeval",
            "CRUXEval: one file of answers to output or input prediction, graded or generations.json",
            ("runtime",),
            PredictionRecord,
            read_cruxeval,
            model_and_suite=cruxeval_model_and_suite,
        ),
        Format(
            "every-eval-ever",
            "Every Eval Ever: a file of samples (*_samples.jsonl) with the models' replies",
            ("loop", "runtime", "evolved"),
            UnitRecord,
            read_every_eval_ever,
        ),
        Format(
            "inspect",
            "inspect_ai: a log of humaneval or mbpp (.eval or .json)",
            ("evolved",),
            EvolvedRecord,
            read_inspect,
        ),
        Format(
            "lm-eval",
            "lm-evaluation-harness: samples_humaneval*.jsonl, samples_mbpp*.jsonl",
            ("evolved",),
            EvolvedRecord,
            read_lm_eval,
        ),
    )
}

WHOLE_PROGRAMS = frozenset({"evalplus", "evoeval", "lm-eval"})
"""Formats whose samples are programs to be graded as they are, not replies."""
_ENDINGS: Final = (".gz", ".jsonl", ".json", ".eval")
_DISCIPLINES: Final = ("loop-", "runtime-", "evolved-")


def logs_at(log_format: Format, paths: Sequence[Path]) -> list[Path]:
    """Returns the logs at these paths; those in a folder in the order of their names.

    Raises:
        UserError: nothing is there, a folder holds no log, or a log is named twice.
    """
    logs = [log for path in paths for log in _logs_at(log_format, path)]
    for log in logs:
        if logs.count(log) > 1:
            raise UserError(f"expected each log once, got {str(log)!r} twice; name it once")
    return logs


def _logs_at(log_format: Format, path: Path) -> Iterator[Path]:
    if not path.exists():
        raise UserError(f"expected {log_format.about} at {str(path)!r}, there is nothing")
    if log_format.is_folder or not path.is_dir():
        if path.is_dir():
            list(files_below(path))  # refuses links
        yield path
        return
    if log_format.name in {"evalplus", "evoeval"} and any(path.glob("**/*.py")):
        yield path
        return
    logs = [log for log in files_below(path) if log.parent == path and log.name.endswith(_ENDINGS)]
    if not logs:
        raise UserError(
            f"expected files of {log_format.name} ({log_format.about}) in {str(path)!r}, got none"
        )
    yield from logs


def model_of(log: Path) -> str:
    """Returns the model's id that a log's file name stands for: `gpt-5` for `loop-gpt-5.json.gz`."""
    name = log.name.lower()
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    for discipline in _DISCIPLINES:
        name = name.removeprefix(discipline)
    return name
