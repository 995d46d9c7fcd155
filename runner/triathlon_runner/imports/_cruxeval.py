"""CRUXEval's answers: a file `<model>_temp0.2_<output|input>.json`, its answers by task."""

from collections.abc import Iterator
from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.imports._foreign import Foreign, ForeignReply, as_object, whole


def read_cruxeval(path: Path) -> Iterator[Foreign]:
    """Every answer, those of one task in the order of the file.

    Raises:
        UserError: the file has another shape.
    """
    answers = as_object(whole(path), str(path)).get("raw_generations")
    if not isinstance(answers, dict):
        raise UserError(f"{path}: expected the object 'raw_generations', got {answers!r:.80}")
    for task_id, texts in answers.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UserError(f"{path}, {task_id}: expected a list of answers, got {texts!r:.80}")
        for text in texts:
            # What stood before the answer is not in the file: it is one, whatever the style.
            yield ForeignReply(task_id, f"[ANSWER]\n{text}\n[/ANSWER]")
