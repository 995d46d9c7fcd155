"""The formats, by the name that the command takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from triathlon_runner.imports._cruxeval import cruxeval_model_and_suite, read_cruxeval
from triathlon_runner.imports._evaloop import read_evaloop
from triathlon_runner.imports._every_eval_ever import read_every_eval_ever
from triathlon_runner.imports._foreign import Foreign
from triathlon_runner.imports._inspect import read_inspect
from triathlon_runner.imports._reval import read_reval
from triathlon_runner.imports._samples import read_evalplus, read_lm_eval
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
    disciplines: frozenset[str]
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


_PROGRAMS = frozenset({"evolved"})

FORMATS = {
    log_format.name: log_format
    for log_format in (
        Format(
            "evalplus",
            "EvalPlus samples: task_id, solution or completion",
            _PROGRAMS,
            EvolvedRecord,
            read_evalplus,
        ),
        Format(
            "evoeval",
            "EvoEval samples: task_id, solution or completion",
            _PROGRAMS,
            EvolvedRecord,
            read_evalplus,
        ),
        Format(
            "evaloop",
            "EVALOOOP: a model's page as JSON, tasks by the loops they sustained",
            frozenset({"loop"}),
            LoopRecord,
            read_evaloop,
        ),
        Format(
            "reval",
            "REval: the folder model_generations with its logs of all four tasks",
            frozenset({"runtime"}),
            RuntimeRecord,
            read_reval,
            is_folder=True,
            note="path and IC can exceed the published values: REval's own harness rejects answers that begin"
            " with a line break, and 188 of its 3,152 truths differ from ours (see the method page)",
        ),
        Format(
            "cruxeval",
            "CRUXEval: one file of answers to output or input prediction, graded or generations.json",
            frozenset({"runtime"}),
            PredictionRecord,
            read_cruxeval,
            model_and_suite=cruxeval_model_and_suite,
        ),
        Format(
            "every-eval-ever",
            "Every Eval Ever: a file of samples (*_samples.jsonl) with the models' replies",
            frozenset({"loop", "runtime", "evolved"}),
            UnitRecord,
            read_every_eval_ever,
        ),
        Format(
            "inspect",
            "inspect_ai: a log of humaneval or mbpp (.eval or .json)",
            _PROGRAMS,
            EvolvedRecord,
            read_inspect,
        ),
        Format(
            "lm-eval",
            "lm-evaluation-harness: samples_humaneval*.jsonl, samples_mbpp*.jsonl",
            _PROGRAMS,
            EvolvedRecord,
            read_lm_eval,
        ),
    )
}

WHOLE_PROGRAMS = frozenset({"evalplus", "evoeval", "lm-eval"})
"""Formats whose samples are programs to be graded as they are, not replies."""
