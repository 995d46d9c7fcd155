"""Readers of logs in plain JSON: EvalPlus', lm-evaluation-harness', EVALOOOP's, REval's and others'."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple

from triathlon_runner.errors import UserError
from triathlon_runner.foreign_files import as_object, json_lines, object_of, read_file
from triathlon_runner.grading import TheirVerdict, sample_rows, their_verdict
from triathlon_runner.imports._units import (
    QUESTIONS,
    Foreign,
    ForeignAnswers,
    ForeignLoop,
    ForeignSample,
    are_texts,
    ended_in_error,
    part,
    task_name,
)
from triathlon_runner.records import Reply
from triathlon_runner.replies import extract_program
from triathlon_runner.syntax import parse_or_none

_CRUXEVAL_NAME: Final = re.compile(
    r"(?P<model>.+?)(?P<cot>\+cot)?_temp[\d.]+_(?P<side>output|input)\.json(?:\.gz)?"
)
"""How CRUXEval's authors call a file of graded answers."""
_ONLY_AN_OUTCOME: Final = (
    "expected the model's reply; a line that has only an outcome cannot be graded here: its figure is a"
    " reported one, for a table in results/published/"
)
REPORTED: Final = {
    "livecodebench": "LiveCodeBench: an eval_all file (question_id, code_list or output_list, graded_list)"
}
"""Formats whose verdicts are printed: nothing of them can be graded again."""


def read_evalplus(path: Path) -> Iterator[Foreign]:
    """Samples as `grade` reads them: `task_id` with `solution`, or `completion` of the prompt; and folders.

    A row may name its data set (`subset`) and the authors' verdicts.
    """
    for number, row in enumerate(sample_rows(path), start=1):
        if row.fault:
            yield ForeignSample(row.broken_at or row.task_id, "", error=row.fault)
            continue
        has_subset = row.fields.get("subset") is not None
        yield ForeignSample(
            row.task_id,
            row.text,
            is_program=True,
            completes=row.completes,
            subset=part(row.fields, f"{path}, sample {number}", "subset") if has_subset else "",
            theirs=their_verdict(row.fields),
        )


def read_lm_eval(path: Path, chosen: str | None = None) -> Iterator[Foreign]:
    """Yields the programs that were tested: `filtered_resps`, one a repeat of the data set's row in `doc`.

    A log has each reply once for each filter: the programs of the chosen one are read; where none is chosen
    those of the first, and the others are named.
    """
    rows, broken = _rows(path)
    yield from broken
    filters = list(dict.fromkeys(str(row.get("filter")) for _, row in rows))
    if chosen is not None and chosen not in filters:
        raise UserError(f"{path}: expected --filter as one of {', '.join(filters)}, got {chosen!r}")
    for where, row in rows:
        name = str(row.get("filter"))
        if chosen not in (None, name):
            continue
        task_id = str(part(row, where, "doc", "task_id", kind=str | int))
        programs, replies = _texts(row.get("filtered_resps")), _texts(row.get("resps")) or []
        if programs is None:
            got = row.get("filtered_resps")
            yield ForeignSample(task_id, "", error=f"expected programs in filtered_resps, got {got!r:.80}")
            continue
        if chosen is None and name != filters[0]:
            why = (
                f"it is of the filter {name!r}; {filters[0]!r}, the first of the log, is read, and"
                " --filter chooses another"
            )
            yield from (ForeignSample(task_id, "", error=why) for _ in programs)
            continue
        shares = [value for key, value in row.items() if re.fullmatch("pass(@|_at_)1", key)]
        # Of all programs of the row: none where only some of them passed.
        passed = bool(shares[0]) if shares and shares[0] in (0, 1) else None
        doc = row["doc"]
        prompt, entry_point = str(doc.get("prompt", doc.get("text", ""))), str(doc.get("entry_point", ""))
        for program, reply in zip_longest(programs, replies[: len(programs)], fillvalue=""):
            text = program
            if entry_point and reply.strip() not in program and not parse_or_none(program):
                # the filter lost so much that it does not parse
                found = extract_program(Reply(text=reply), entry_point=entry_point, prompt=prompt)
                text = found.program or program
            about, theirs = json.dumps(doc, ensure_ascii=False), TheirVerdict(passed)
            yield ForeignSample(task_id, text, prompt, is_program=True, about=about, theirs=theirs)


def _rows(path: Path) -> tuple[list[tuple[str, dict[str, Any]]], list[ForeignSample]]:
    """Returns the lines of a log with their places, and those that cannot be read, which are left out.

    Raises:
        UserError: none can be read.
    """
    broken: list[str] = []
    rows = list(json_lines(path, broken=broken))
    if broken and not rows:
        raise UserError(broken[0])
    return rows, [ForeignSample("a broken line", "", error=fault) for fault in broken]


def _texts(value: Any) -> list[str] | None:
    """Returns the texts of a row: the harness writes a list of them, or that list in another list."""
    texts = value[0] if isinstance(value, list) and value and isinstance(value[0], list) else value
    return texts if are_texts(texts) else None


def read_evaloop(path: Path) -> Iterator[Foreign]:
    """Yields every task's loop; tasks stand by the loops that they sustained, or by another word."""
    for count, tasks in as_object(read_file(path), str(path)).items():
        if not isinstance(tasks, list):
            raise UserError(f"{path}: expected lists of tasks by loops, got {tasks!r:.80} at {count!r}")
        sustained_loops = int(count) if re.fullmatch(r"\d{1,9}", count) else None
        for task in tasks:
            where = f"{path}, key {count!r}"
            task_id, first_prompt = (part(task, where, key) for key in ("task_id", "initial_prompt"))
            assertions = "\n".join(line for line in first_prompt.split("\n") if line.startswith("assert"))
            programs, sentences = [], []
            for cycle in part(task, where, "cycles", kind=list):
                programs.append(part(cycle, f"{where}, {task_id}", "code_output"))
                # The next prompt: the sentence and the assertions, in the quotes of a docstring.
                prompt = part(cycle, f"{where}, {task_id}", "summary_output").strip()
                inside = prompt.removeprefix('"""').removesuffix('"""').strip("\n")
                sentences.append(inside.removesuffix(assertions).strip())
            if programs:
                yield ForeignLoop(task_id, tuple(programs), tuple(sentences), sustained_loops)
            else:
                yield ForeignSample(task_id, "", error="it has no program: its cycles are empty")


def read_reval(path: Path) -> Iterator[Foreign]:
    """Yields the units, of which those that are not in all four logs are left out."""
    logs = {}
    for task in QUESTIONS:
        logs[task], broken = _newest_log(path, task)
        yield from broken
    for unit in dict.fromkeys(chain(*logs.values())):
        task_id = "#".join(map(str, unit))
        if lacking := [task for task, log in logs.items() if unit not in log]:
            yield ForeignSample(task_id, "", error=f"it is not in the log of {', '.join(lacking)}")
        else:
            yield ForeignAnswers(task_id, {task: log[unit] for task, log in logs.items()})


def _newest_log(
    folder: Path, task: str
) -> tuple[dict[tuple[str, int], tuple[str, ...]], list[ForeignSample]]:
    """Returns the replies of a task by unit, and lines that cannot be read.

    Names of logs are times, so the newest is the last by name.
    """
    files = sorted(folder.glob(f"{task}@*/*.jsonl"))
    names = sorted({file.parent.name for file in files})
    if len(names) != 1:
        raise UserError(
            f"expected logs (.jsonl) in one folder {task}@… of {str(folder)!r}, REval's model_generations,"
            f" got them in {names or 'none'}"
        )
    replies: dict[tuple[str, int], tuple[str, ...]] = {}
    rows, broken = _rows(files[-1])
    for where, row in rows:
        if "task_id" not in row:  # the last line holds the metrics
            continue
        try:
            for generation in row.get("generation") or ():
                texts = [result["generated"] for result in generation["results"]]
                unit = (str(row["task_id"]), int(generation["input_idx"]))
                replies[unit] = tuple(text if isinstance(text, str) else json.dumps(text) for text in texts)
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise UserError(f"{where}: expected REval's results, got {error!r}") from None
    return replies, broken


def cruxeval_model_and_suite(log: Path) -> tuple[str, str] | None:
    """Returns the model and suite that a file's name stands for; None for any other name."""
    match = _CRUXEVAL_NAME.fullmatch(log.name)
    if match is None:
        return None
    return match["model"].lower(), f"runtime/cruxeval-{match['side']}" + ("@cot" if match["cot"] else "")


def read_cruxeval(path: Path) -> Iterator[Foreign]:
    """Every answer with the authors' verdict, where there is one; those of one task in the order of the file.

    Raises:
        UserError: the file has another shape.
    """
    content = as_object(read_file(path), str(path))
    answers, scored = content.get("raw_generations", content), content.get("raw_scored_generations", {})
    if not isinstance(answers, dict) or not isinstance(scored, dict):
        raise UserError(
            f"{path}: expected objects in 'raw_generations' and 'raw_scored_generations',"
            f" got {answers!r:.80} and {scored!r:.80}"
        )
    model_and_suite = cruxeval_model_and_suite(path)
    asks_input = "input" in model_and_suite[1] if model_and_suite else None
    for task_id, texts in answers.items():
        if not isinstance(texts, list):
            raise UserError(f"{path}, {task_id}: expected a list of answers, got {texts!r:.80}")
        verdicts = _verdicts(scored.get(task_id), [*map(str, texts)], asks_input=asks_input)
        for text, passed in zip(texts, verdicts, strict=True):
            if isinstance(text, str):
                # The file has the answers alone, also where the prompt asked for a chain of thought first.
                yield ForeignSample(task_id, f"[ANSWER]\n{text}\n[/ANSWER]", theirs=TheirVerdict(passed))
            else:
                yield ForeignSample(task_id, "", error=f"expected a text as answer, got {text!r:.80}")


def _verdicts(scored: Any, texts: Sequence[str], *, asks_input: bool | None) -> list[bool | None]:
    """Returns the authors' verdicts of one task's answers; None for each where the file does not tell.

    CRUXEval's harness does not execute an answer about an input without `f(`, nor one about an output that
    holds the question's own call: it counts them as failed (evaluation/utils_general.py, evaluate_score). An
    earlier version, which made three of its files, left them out of the list where another answer to the task
    passed. Of outputs, those left out are among the answers with `f(`, and are known where there are as many
    of these as places are missing.
    """
    unknown: list[bool | None] = [None] * len(texts)
    if not isinstance(scored, list) or not all(isinstance(verdict, bool) for verdict in scored):
        return unknown
    if len(scored) == len(texts):
        return list(scored)
    not_executed = [("f(" in text) != asks_input for text in texts]
    if asks_input is None or sum(not_executed) != len(texts) - len(scored):
        return unknown
    verdicts = iter(scored)
    return [False if skipped else next(verdicts) for skipped in not_executed]


def read_every_eval_ever(path: Path) -> Iterator[Foreign]:
    """Yields a reply or a loop for each sample, and all answers to one (program, input) of runtime together.

    A line without a reply is left out: it ended in an error, or has an outcome alone.

    Raises:
        UserError: a line of another shape.
    """
    answers: dict[str, dict[str, list[str]]] = {}
    tasks: dict[str, str] = {}
    rows, broken = _rows(path)
    yield from broken
    for where, row, metadata in _interactions(rows):
        # without the metadata's task id, the sample's id without the sample's number
        task_id = task_name(metadata.get("task_id")) or part(row, where, "sample_id").partition("#")[0]
        if row.get("interaction_type") == "multi_turn":
            error = row.get("error")
            yield ended_in_error(task_id, error) if error else _conversation(row, task_id, where)
            continue
        replies = object_of(row.get("output"), f"{where}, output").get("raw")
        if row.get("error") and not (are_texts(replies) and any(replies)):
            yield ended_in_error(task_id, row["error"])
        elif not are_texts(replies) or not replies:
            yield ForeignSample(task_id, "", error=f"got {replies!r:.80} in output.raw, {_ONLY_AN_OUTCOME}")
        elif "question" in metadata:
            unit = part(row, where, "sample_id").rpartition("#")[0]
            tasks.setdefault(unit, task_id)
            answers.setdefault(unit, {}).setdefault(str(metadata["question"]), []).extend(replies)
        else:
            asked = object_of(row.get("input"), f"{where}, input")
            prompt = asked["raw"] if isinstance(asked.get("raw"), str) else ""
            about = f"{prompt}\n{asked.get('reference')}"
            yield from (ForeignSample(task_id, reply, prompt, about=about) for reply in replies)
    for unit, of_unit in answers.items():
        yield ForeignAnswers(tasks[unit], of_unit)


def every_eval_ever_model(path: Path) -> str:
    """Returns the model that a file of samples names; empty where it names none, or more than one."""
    models = {str(row.get("model_id") or "") for _, row in json_lines(path, broken=[])}
    return models.pop() if len(models) == 1 else ""


def _interactions(
    rows: Sequence[tuple[str, dict[str, Any]]],
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yields the first line of each sample, with its place and metadata.

    A file has a line for each sample and each score (`evaluation_result_id`): lines of one score with one
    question are samples of one task, numbered by `epoch` or counted.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    seen = set()
    for where, row in rows:
        metadata = object_of(row.get("metadata"), f"{where}, metadata")
        sample = str(row.get("sample_id")), str(row.get("input"))
        score = *sample, str(row.get("evaluation_result_id") or row.get("evaluation_name"))
        counts[score] += 1
        epoch = metadata.get("epoch")
        interaction = *sample, str(counts[score] if epoch is None else epoch)
        if interaction not in seen:
            seen.add(interaction)
            yield where, row, metadata


def _conversation(row: dict[str, Any], task_id: str, where: str) -> ForeignLoop:
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
    programs = tuple(replies[0] for replies in loops)
    sentences = tuple(replies[1] if len(replies) == 2 else "" for replies in loops)
    return ForeignLoop(task_id, programs, sentences, replies=True)


class GradedOutputs(NamedTuple):
    """pass@1 of one model by the verdicts of LiveCodeBench's harness; nothing of it was graded here."""

    pass_at_1: float
    """Mean over the questions of the share of programs that passed, in per cent."""
    questions: int
    samples: int
    first_contest: str
    """Day of the oldest contest; empty where the file has none."""
    last_contest: str


def read_livecodebench(path: Path) -> GradedOutputs:
    """Returns pass@1 of a file of LiveCodeBench's harness.

    Its objects have `question_id`, `output_list` or `code_list`, and `graded_list`.
    """
    shares: dict[str, float] = {}
    samples, days = 0, []
    for where, row in json_lines(path):
        question, verdicts = task_name(row.get("question_id")), row.get("graded_list")
        programs = row.get("code_list", row.get("output_list"))
        if question is None or question in shares:
            raise UserError(f"{where}: expected question_id, each once, got {row.get('question_id')!r:.80}")
        if not isinstance(verdicts, list) or {type(verdict) for verdict in verdicts} != {bool}:
            raise UserError(
                f"{where}: expected verdicts (true or false) in graded_list, got {verdicts!r:.80}; outputs"
                " that LiveCodeBench's harness has not graded have no score: run its evaluation first"
            )
        if not isinstance(programs, list) or len(programs) != len(verdicts):
            got = len(programs) if isinstance(programs, list) else None
            raise UserError(
                f"{where}: expected {len(verdicts)} programs in code_list or output_list, as many as"
                f" verdicts, got {got}"
            )
        shares[question] = sum(verdicts) / len(verdicts)
        samples += len(verdicts)
        if row.get("contest_date"):
            days.append(part(row, where, "contest_date")[:10])
    if not shares:
        raise UserError(f"{path}: expected LiveCodeBench's questions with their graded_list, got none")
    mean = 100 * sum(shares.values()) / len(shares)
    return GradedOutputs(mean, len(shares), samples, min(days, default=""), max(days, default=""))
