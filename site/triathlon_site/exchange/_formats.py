"""The formats, by the name that the command takes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from triathlon_site.exchange import _every_eval_ever, _hugging_face, _inspect, _samples
from triathlon_site.exchange._source import Source


@dataclass(frozen=True)
class Export:
    """Another program's format."""

    about: str
    """In a line, for the help."""
    files: Callable[[Source], Iterator[tuple[str, str | bytes | Iterable[str]]]]
    """Path and content of each file that one source becomes; a content may come in lines."""
    fault: Callable[[Source], str]
    """Why the format cannot hold a source, in words; empty where it can."""


EXPORTS: Final[Mapping[str, Export]] = {
    "every-eval-ever": Export(
        "Every Eval Ever 0.3: scores with intervals, and a line a sample",
        _every_eval_ever.files,
        _every_eval_ever.fault,
    ),
    "hugging-face": Export(
        "Hugging Face: a .eval_results YAML file for the model's repository",
        _hugging_face.files,
        _hugging_face.fault,
    ),
    "evalplus": Export("EvalPlus samples: task_id, solution", _samples.evalplus, _samples.fault),
    "lm-eval": Export("lm-evaluation-harness: samples_*.jsonl", _samples.lm_eval, _samples.fault),
    "inspect": Export("inspect_ai: a .eval log, by its own API", _inspect.files, _samples.fault),
}
