"""inspect_ai's logs: `.eval` is a zip of a header and one JSON file a sample, `.json` is all in one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import as_object, members, object_of, read_file, read_members
from triathlon_runner.grading import NO_VERDICT, TheirVerdict
from triathlon_runner.imports._units import Foreign, ForeignSample, task_name

_SHOWN: Final = 200
"""Characters of an error's message that are shown."""
_RIGHT: Final = ("C", 1)
_WRONG: Final = ("I", 0)
"""Values of a score."""
_CUT: Final = ("max_tokens", "model_length")
"""Reasons to stop that are a limit of tokens."""


def read_inspect(path: Path) -> Iterator[Foreign]:
    """Each sample's `id` is the task, its `output` the reply. One that ended in an error or early has none.

    Raises:
        UserError: the file is no such log.
    """
    for sample in _samples(path):
        task, error, prompt = task_name(sample.get("id")) or "", sample.get("error"), _prompt(sample)
        output = object_of(sample.get("output"), f"{path}, sample {task!r}, output")
        if error is None and output.get("choices"):
            text, cut = _reply(output, f"{path}, sample {task!r}")
            yield ForeignSample(task, text, prompt, theirs=_score(sample.get("scores")), cut=cut)
        elif error is None:
            limit = sample.get("limit")
            met = f" (it met its limit: {limit.get('type')})" if isinstance(limit, dict) else ""
            yield ForeignSample(task, "", error=f"it has no reply: its output has no choices{met}")
        else:
            message = str(error.get("message") if isinstance(error, dict) else error)
            first_line = message.partition("\n")[0][:_SHOWN]
            yield ForeignSample(task, "", error=f"it ended in an error: {first_line}")


def inspect_status(path: Path) -> str:
    """Returns the status of a log that is no `success`, such as `cancelled`; empty for one that is."""
    names = members(path)
    if names is None:
        header = as_object(read_file(path), str(path))
    elif "header.json" in names:
        (content,) = read_members(path, ["header.json"])
        header = as_object(content, f"{path}, header.json")
    else:
        return "started"  # the header is written last
    status = header.get("status")
    return status if isinstance(status, str) and status != "success" else ""


def _prompt(sample: dict[str, Any]) -> str:
    """Returns the text of an input, which may be a list of messages."""
    asked = sample.get("input")
    if isinstance(asked, str):
        return asked
    messages = asked if isinstance(asked, list) else ()
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    return "\n".join(content for content in contents if isinstance(content, str))


def _score(scores: Any) -> TheirVerdict:
    """Returns what the scorers of a sample say, where they agree."""
    if not isinstance(scores, dict):
        return NO_VERDICT
    values = [score.get("value") for score in scores.values() if isinstance(score, dict)]
    verdicts = {True if value in _RIGHT else False if value in _WRONG else None for value in values}
    return TheirVerdict(verdicts.pop()) if len(verdicts) == 1 else NO_VERDICT


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    names = members(path)
    if names is None:
        log = as_object(read_file(path), str(path))
        if not isinstance(log.get("samples"), list):
            raise UserError(f"{path}: expected inspect_ai's log with its samples, got keys {sorted(log)[:8]}")
        yield from (object_of(sample, f"{path}, samples") for sample in log["samples"])
        return
    samples = sorted((name for name in names if name.startswith("samples/")), key=_task_and_epoch)
    if not samples:
        raise UserError(f"{path}: expected inspect_ai's samples/ inside, got {names[:8]}")
    for name, content in zip(samples, read_members(path, samples), strict=True):
        yield as_object(content, f"{path}, {name}")


def _task_and_epoch(name: str) -> tuple[str, int, str]:
    """Returns what samples are sorted by: as a text, epoch 10 would stand before epoch 2."""
    task, _, epoch = name.removesuffix(".json").rpartition("_epoch_")
    return (task, len(epoch), epoch) if epoch.isdecimal() else (name, 0, "")


def _reply(output: dict[str, Any], where: str) -> tuple[str, bool]:
    """Returns the text of the first choice, and whether a limit of tokens ended it.

    A content of several parts is joined, without reasoning.
    """
    try:
        choice = output["choices"][0]
        content = choice["message"]["content"]
    except (LookupError, TypeError):
        raise UserError(f"{where}: expected output.choices[0].message.content, got {output!r:.80}") from None
    cut = (choice.get("stop_reason") or output.get("stop_reason")) in _CUT
    if isinstance(content, str):
        return content, cut
    if not isinstance(content, list):
        raise UserError(f"{where}, content: expected a text or its parts, got {content!r:.80}")
    parts = [object_of(part, f"{where}, content") for part in content]
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "text"), cut
