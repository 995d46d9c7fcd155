"""A task of a loop as a film: what each loop changed, where it was lost; and what all tasks say of that."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Final, NamedTuple

from triathlon_runner.records import LoopRecord, LoopStep, Outcome
from triathlon_site.evidence import Article, Words, changed_words, reason
from triathlon_site.models import Models
from triathlon_site.pages.board._parts import model_table, shown_units, summaries_of
from triathlon_site.render import Section, Value, formats
from triathlon_site.scores import Board

UNCHANGED: Final = "lost with an unchanged prompt"
FIXED: Final = "fixed prompt"
EXAMPLE: Final = "fails an example of its own"
LONGEST: Final = 80  # characters of the words that went, in a list


class Scene(NamedTuple):
    """Loops that are equal, shown once."""

    first: int
    last: int
    step: LoopStep
    words: Sequence[Words]  # the prompt, with what came and what went since the loop before
    before: LoopStep | None  # the loop before the one in which the task was lost; None elsewhere
    same_prompt: bool  # whether the model was asked the same as in the loop before


def film(record: LoopRecord) -> list[Scene]:
    """The loops in their order; one with prompt, program and outcome of the loop before is folded."""
    scenes: list[Scene] = []
    previous: LoopStep | None = None
    for step in record.loops:
        shown = step.prompt, step.program, step.outcome
        if previous and shown == (previous.prompt, previous.program, previous.outcome):
            shown_step = step if step.summary_reply else scenes[-1].step  # a summary that failed is the last
            scenes[-1] = scenes[-1]._replace(last=step.loop, step=shown_step)
        else:
            lost = previous if step.outcome != Outcome.PASSED else None
            same = previous is not None and step.prompt == previous.prompt
            words = changed_words(previous.prompt, step.prompt) if previous else [Words("same", step.prompt)]
            scenes.append(Scene(step.loop, step.loop, step, words, lost, same))
        previous = step
    return scenes


def fixed_from(record: LoopRecord) -> int | None:
    """The loop from which on the prompt of a kept task stays the same to the end; None where it changes.

    What is asked then is the same question again, whose greedy answer tests nothing more.
    """
    if record.outcome != Outcome.PASSED or len(record.loops) < 3:
        return None
    last = record.loops[-1]
    same = list(takewhile(lambda step: step.prompt == last.prompt, reversed(record.loops)))
    return same[-1].loop if len(same) > 1 else None


def _lost(record: LoopRecord) -> Sequence[LoopStep]:
    """The loops before and in which a task was lost; none where it was never solved, or kept."""
    last = record.loops[-2:]
    return last if len(last) > 1 and last[1].outcome != Outcome.PASSED else ()


def loop_kinds(record: LoopRecord) -> Iterator[str]:
    """What a list of loop tasks can be filtered by."""
    if record.outcome != Outcome.PASSED:
        yield f"lost in loop {record.sustained_loops + 1}"
    if fixed_from(record):
        yield FIXED
    if (pair := _lost(record)) and pair[0].prompt == pair[1].prompt:
        yield UNCHANGED
    last = record.loops[-1] if record.loops else None
    if last and last.verdict and "AssertionError" in last.verdict.detail and not last.verdict.failing:
        yield EXAMPLE


def _reason(record: LoopRecord) -> str:
    """Where a task was lost, which words were gone by then, and the value that was wrong."""
    parts = [f"lost in loop {record.sustained_loops + 1}"]
    if pair := _lost(record):
        before, lost = pair
        words = [] if lost.language else changed_words(before.prompt, lost.prompt)
        lost_words = (" ".join(run.text.split()) for run in words if run.kind == "gone")
        gone = formats.shorten(" … ".join(lost_words), LONGEST)
        parts.append(UNCHANGED if before.prompt == lost.prompt else f"without “{gone}”" if gone else "")
    return "; ".join(filter(None, [*parts, reason(record.loops[-1]) if record.loops else ""]))


def _summary(records: Sequence[LoopRecord]) -> Mapping[str, Any]:
    """By loop, how many tasks were lost; how many kept tasks have a fixed prompt, and from when."""
    lost = Counter(record.sustained_loops + 1 for record in records if record.outcome != Outcome.PASSED)
    fixed = sorted(start for record in records if (start := fixed_from(record)))
    kinds = Counter(kind for record in records for kind in loop_kinds(record))
    return {
        "lost": {str(loop): count for loop, count in sorted(lost.items())},
        "kept": sum(record.outcome == Outcome.PASSED for record in records),
        "fixed": len(fixed),
        "fixed_from": fixed[len(fixed) // 2] if fixed else None,
        "unchanged": kinds[UNCHANGED],
        "example": kinds[EXAMPLE],
    }


ARTICLE: Final = Article("board/loop_unit", film, loop_kinds, _reason, summary=_summary)


def lost_sections(board: Board, models: Models) -> Iterator[Section]:
    """By model and loop the tasks that were lost, with what says nothing of a meaning kept or lost."""
    suite = board.plan.suites[0].id
    summaries = summaries_of(board, "lost")
    if not summaries:
        return

    def cells(kind: str, counts: Mapping[str, int]) -> dict[str, Value]:
        return {m: shown_units(models, m, suite, count, kind) for m, count in counts.items()}

    columns: dict[str, dict[str, Value]] = {}
    for loop in sorted({int(loop) for summary in summaries.values() for loop in summary["lost"]}):
        counts = {m: summary["lost"].get(str(loop), 0) for m, summary in summaries.items()}
        columns[f"loop {loop}"] = cells(f"lost in loop {loop}", counts)
    for title, field, kind in (
        ("kept", "kept", "passed"),
        ("of these with a fixed prompt", "fixed", FIXED),
        ("lost with an unchanged prompt", "unchanged", UNCHANGED),
        ("failed an example of their own", "example", EXAMPLE),
    ):
        columns[title] = cells(kind, {m: summary[field] for m, summary in summaries.items()})
    fixed = columns["of these with a fixed prompt"]
    for model, summary in summaries.items():
        if start := summary["fixed_from"]:
            fixed[model] = replace(fixed[model], small=f"half of them from loop {start} on")
    yield model_table(
        "Where tasks are lost",
        "Tasks, each sample apart, by the loop in which they were lost; a number opens their films, each with"
        " the words that were gone. A fixed prompt no longer changes to the last loop: the same question is"
        " asked again, and its greedy answer tests nothing more. Lost with an unchanged prompt: no words were"
        " lost, the server answered otherwise.",
        models,
        summaries,
        columns,
    )
