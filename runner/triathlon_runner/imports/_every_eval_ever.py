"""Every Eval Ever's samples: the lines that `triathlon export every-eval-ever` and others write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import (
    QUESTIONS,
    Foreign,
    ForeignAnswers,
    ForeignLoop,
    ForeignReply,
    json_lines,
    object_of,
    text_of,
)

_Row = dict[str, Any]


def read_every_eval_ever(path: Path) -> Iterator[Foreign]:
    """Yields a reply or a loop for each sample, and all answers to one (program, input) of runtime together.

    Raises:
        UserError: a line of another shape, or lines without replies: outcomes alone are no evidence to grade.
    """
    answers: dict[str, list[_Row]] = {}
    for where, row in json_lines(path):
        metadata = object_of(row.get("metadata"), f"{where}, metadata")
        if "question" in metadata:
            unit = text_of(row, "sample_id", where).rpartition("#")[0]
            answers.setdefault(unit, []).append(row)
        elif row.get("interaction_type") == "multi_turn":
            yield _loop(row, where)
        else:
            yield ForeignReply(_task(row, where), _reply(row, where), _question(row, where))
    for unit, rows in answers.items():
        yield _answers(unit, rows, path)


def _task(row: _Row, where: str) -> str:
    """Returns the metadata's task id; without one, the sample's id without the sample's number."""
    task_id = object_of(row.get("metadata"), f"{where}, metadata").get("task_id")
    return task_id if isinstance(task_id, str) else text_of(row, "sample_id", where).partition("#")[0]


def _question(row: _Row, where: str) -> str:
    question = object_of(row.get("input"), f"{where}, input").get("raw")
    return question if isinstance(question, str) else ""


def _reply(row: _Row, where: str) -> str:
    replies = object_of(row.get("output"), f"{where}, output").get("raw")
    if not isinstance(replies, list) or not replies or not all(isinstance(text, str) for text in replies):
        raise UserError(
            f"{where}: expected the model's reply in output.raw, got {replies!r:.80}; a line that has only an"
            " outcome cannot be graded here: its figure is a reported one, for a table in results/published/"
        )
    return str(replies[-1])


def _loop(row: _Row, where: str) -> ForeignLoop:
    """A user's message begins a loop; its replies are the program and, where there is one, the summary."""
    loops: list[list[str]] = []
    messages = row.get("messages")
    for entry in messages if isinstance(messages, list) else ():
        message = object_of(entry, f"{where}, messages")
        if message.get("role") == "user":
            loops.append([])
        elif loops and isinstance(message.get("content"), str):
            loops[-1].append(message["content"])
    if not loops or not all(1 <= len(replies) <= 2 for replies in loops):
        raise UserError(
            f"{where}: expected messages of a loop (user, program, summary), got {len(loops)} questions with"
            f" {[len(replies) for replies in loops][:10]} replies"
        )
    return ForeignLoop(
        _task(row, where),
        programs=tuple(replies[0] for replies in loops),
        sentences=tuple(replies[1] if len(replies) == 2 else "" for replies in loops),
        replies=True,
    )


def _answers(unit: str, rows: list[_Row], path: Path) -> ForeignAnswers:
    replies: dict[str, list[str]] = {kind: [] for kind in QUESTIONS}
    for row in rows:
        kind = str(row["metadata"]["question"]).partition("-")[0]
        if kind not in replies:
            raise UserError(f"{path}, {unit}: expected a question of {', '.join(QUESTIONS)}, got {kind!r}")
        replies[kind].append(_reply(row, f"{path}, {unit}"))
    if len(replies["output"]) != 1:
        raise UserError(f"{path}, {unit}: expected one output question, got {len(replies['output'])}")
    return ForeignAnswers(_task(rows[0], f"{path}, {unit}"), replies)
