"""inspect_ai's logs: `.eval` is a zip of a header and one JSON file a sample, `.json` is all in one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import as_object, members, object_of, read_file, read_members
from triathlon_runner.grading import NO_VERDICT, TheirVerdict
from triathlon_runner.imports._units import Foreign, ForeignSample, ended_in_error, part, task_name

_VERDICTS: Final = {"C": True, 1: True, "I": False, "N": False, 0: False}
"""By the value of a score; other values, such as the number of lines, are none."""
_CUT: Final = ("max_tokens", "model_length")
"""Reasons to stop that are a limit of tokens."""


def read_inspect(path: Path) -> Iterator[Foreign]:
    """Each sample's `id` is the task, its `output` the reply. One that ended in an error or early has none.

    Raises:
        UserError: the file is no such log.
    """
    for where, sample in _samples(path):
        task, error = task_name(sample.get("id")) or "", sample.get("error")
        output = object_of(sample.get("output"), f"{where}, output")
        if error is not None:
            yield ended_in_error(task, error)
        elif isinstance(sample.get("invalidation"), dict):
            why = sample["invalidation"].get("reason") or "no reason is given"
            yield ForeignSample(task, "", error=f"the log calls it invalid: {why}")
        elif not output.get("choices"):
            limit = sample.get("limit")
            met = f" (it met its limit: {limit.get('type')})" if isinstance(limit, dict) else ""
            yield ForeignSample(task, "", error=f"it has no reply: its output has no choices{met}")
        elif part(output, where, "choices", 0, "message", kind=dict).get("content") is None:
            yield ForeignSample(task, "", error="it has no reply: its content is null")
        else:
            text = part(output, where, "choices", 0, "message", "content", kind=str | list)
            if not isinstance(text, str):  # without reasoning
                parts = [object_of(each, f"{where}, content") for each in text]
                text = "".join(str(each.get("text", "")) for each in parts if each.get("type") == "text")
            cut = (output["choices"][0].get("stop_reason") or output.get("stop_reason")) in _CUT
            prompt, theirs = _prompt(sample.get("input")), _score(sample.get("scores"))
            about = f"{prompt}\n{_prompt(sample.get('target'))}"  # MBPP's tests are its target alone
            yield ForeignSample(task, text, prompt, about=about, theirs=theirs, cut=cut)


def inspect_status(path: Path) -> str:
    """Returns the status of a log that is no `success`, such as `cancelled`; empty for one that is."""
    status = _header(path).get("status", "started")  # written last
    return status if isinstance(status, str) and status != "success" else ""


def inspect_model(path: Path) -> str:
    """Returns the model that was asked, such as `openai/gpt-5`; empty where the log does not say."""
    asked = _header(path).get("eval")
    model = asked.get("model") if isinstance(asked, dict) else None
    return model if isinstance(model, str) else ""


def _header(path: Path) -> dict[str, Any]:
    """Returns what a log says of itself at its end; of one without end, what it said at its start."""
    names = members(path)
    if names is None:
        return as_object(read_file(path), str(path))
    name = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
    contents = read_members(path, [name] if name else [])
    return next((as_object(content, f"{path}, {name}") for content in contents), {})


def _prompt(asked: Any) -> str:
    """Returns the text of an input or a target, which may be a list of messages or texts."""
    messages = asked if isinstance(asked, list) else [asked]
    contents = [message.get("content") if isinstance(message, dict) else message for message in messages]
    return "\n".join(content for content in contents if isinstance(content, str))


def _score(scores: Any) -> TheirVerdict:
    """Returns what the scorers of a sample say that give verdicts, where they agree."""
    of_scorers = scores.values() if isinstance(scores, dict) else ()
    values = [score.get("value") for score in of_scorers if isinstance(score, dict)]
    verdicts = {
        _VERDICTS[value] for value in values if isinstance(value, str | float | int) and value in _VERDICTS
    }
    return TheirVerdict(verdicts.pop()) if len(verdicts) == 1 else NO_VERDICT


def _samples(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields each sample with its place; of a zip in the order of tasks and epochs."""
    names = members(path)
    if names is None:
        log = as_object(read_file(path), str(path))
        for number, sample in enumerate(part(log, str(path), "samples", kind=list), start=1):
            where = f"{path}, sample {number}"
            yield where, object_of(sample, where)
        return
    of_samples = (name for name in names if name.startswith("samples/") and name.endswith(".json"))
    samples = sorted(of_samples, key=_task_and_epoch)
    if not samples:
        raise UserError(f"{path}: expected inspect_ai's samples/ inside, got {names[:8]}")
    for name, content in zip(samples, read_members(path, samples), strict=True):
        yield f"{path}, {name}", as_object(content, f"{path}, {name}")


def _task_and_epoch(name: str) -> tuple[str, int, str]:
    """Returns what samples are sorted by: as a text, epoch 10 would stand before epoch 2."""
    task, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return (task, len(epoch), epoch) if epoch.isdecimal() else (name, 0, "")
