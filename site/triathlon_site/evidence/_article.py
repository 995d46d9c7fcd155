"""How one task of a suite is shown: its samples, what was written and graded, which words changed."""

import ast
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import zip_longest
from typing import Any, Final, Literal, NamedTuple

from markupsafe import Markup

from triathlon_runner.records import Outcome, UnitRecord, Verdict
from triathlon_site.render import Environment, formats, show_control_characters

_TOKENS: Final = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST: Final = 600
"""Tokens from which on a comparison costs more than it shows."""
LONGEST_REASON: Final = 60
"""Characters of each value in the list of units."""
BEFORE: Final = 12
"""Of these, before the first that differs, where equal ones are left out."""


class Words(NamedTuple):
    """A run of text that stayed, came or went."""

    kind: Literal["same", "new", "gone"]
    text: str


@lru_cache(maxsize=4096)
def changed_words(before: str, after: str) -> list[Words]:
    """`after` with what is new marked, and what went in its place; unmarked where the texts are long.

    Cached, because all models are asked the same and a comparison takes milliseconds.
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    if len(old) > LONGEST or len(new) > LONGEST:
        return [Words("same", after)]
    runs = []
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            runs.append(Words("same", "".join(new[j1:j2])))
            continue
        if (gone := "".join(old[i1:i2])).strip():
            runs.append(Words("gone", gone))
        if j2 > j1:
            runs.append(Words("new", "".join(new[j1:j2])))
    return runs


class Missing(NamedTuple):
    """A function that was asked for and that a program does not define."""

    name: str
    defined: tuple[str, ...]
    """What it defines instead."""


def missing_definition(program: str, verdict: Verdict | None) -> Missing | None:
    """The function whose call failed because the program does not define it; None where it does.

    The grader then looks the function up in vain, and the verdict has its `KeyError`.
    """
    case = verdict.failing if verdict else None
    if case is None or not case.got.startswith("KeyError: '"):
        return None
    name = case.got.removeprefix("KeyError: '").rstrip("'")
    try:
        body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = tuple(node.name for node in body if isinstance(node, functions))
    return Missing(name, defined) if case.input.startswith(f"{name}(") and name not in defined else None


class Texts(NamedTuple):
    """What templates of articles compute from texts."""

    changed_words: Callable[..., Any] = changed_words
    missing: Callable[..., Missing | None] = missing_definition


def reason(record: Any) -> str:
    """Why a unit is not passed, in a few words; empty where its record has no verdict that says it."""
    verdict: Verdict | None = getattr(record, "verdict", None)
    if record.outcome == Outcome.PASSED or verdict is None:
        return ""
    if missing := missing_definition(getattr(record, "program", ""), verdict):
        return f"the reply does not define {missing.name}"
    if verdict.failing:
        return expected_and_got(formats.expected_value(verdict.failing), verdict.failing.got)
    return formats.shorten(" ".join(verdict.detail.split()).rstrip(": "), 2 * LONGEST_REASON)


def expected_and_got(expected: str, got: str) -> str:
    """Two values in one line, from shortly before they differ; white space in them stays as it is."""
    pairs = enumerate(zip_longest(expected, got))
    start = next((place for place, (one, other) in pairs if one != other), 0) - BEFORE
    values = (_clipped(text, start if start > BEFORE else 0) for text in (expected, got))
    return "expected {}, got {}".format(*values)


def _clipped(text: str, start: int) -> str:
    shown = text[start : start + LONGEST_REASON].replace("\n", "⏎")
    return f"{'…' * (start > 0)}{shown}{'…' * (start + LONGEST_REASON < len(text))}"


@dataclass(frozen=True, slots=True)
class Article:
    """How the units of one type of record are shown."""

    template: str = "evidence/fields"
    """Has a macro `content`, which takes the record, the records of the problems that it was evolved from,
    `rows`, a `Texts`, and whether it is the first that is shown of its task."""
    rows: Callable[[Any], Iterable[Any]] = lambda _record: ()
    """From the record to the rows of a table."""
    kinds: Callable[[Any], Iterable[str]] = lambda _record: ()
    """What a list of units can be filtered by, beside the outcome."""
    reason: Callable[[Any], str] = reason
    """Why a unit is not passed, in a few words."""
    alike: Callable[[Any], Hashable] = lambda record: record.sample
    """Samples of one task with the same are shown once."""
    summary: Callable[[Sequence[Any]], Mapping[str, Any] | None] = lambda _records: None
    """What boards say of all units of a file, as JSON."""


Articles = Mapping[type[UnitRecord], Article]
"""By type of record; units of other types are shown field by field."""


class Shown(NamedTuple):
    """Samples of one task that are alike: one record, and the numbers of all of them, from 1."""

    record: UnitRecord
    numbers: tuple[int, ...]
    content: Markup


def render_tasks(
    tasks: Mapping[str, Sequence[UnitRecord]],
    environment: Environment,
    article: Article,
    parents: Mapping[str, UnitRecord],
) -> Iterator[tuple[str, str]]:
    """Each task with the HTML of its units.

    Args:
        tasks: the units of each task, in the order of their samples.
        environment: the templates.
        article: how they are shown.
        parents: by task_id, what the model did with the problems that these were evolved from.
    """
    frame = environment.macro("evidence/unit", "article")
    content = environment.macro(article.template, "content")
    texts = Texts()
    for task, records in tasks.items():
        groups: dict[Hashable, list[UnitRecord]] = {}
        for record in records:
            groups.setdefault(article.alike(record), []).append(record)
        shown: list[Shown] = []
        for group in sorted(groups.values(), key=len, reverse=True):
            first = group[0]
            found = [parents.get(name) for name in getattr(first, "parents", ())]
            seeds = [parent for parent in found if isinstance(parent, type(first))]
            text = content(first, seeds, [*article.rows(first)], texts, not shown)
            shown.append(Shown(first, tuple(record.sample + 1 for record in group), text))
        yield task, show_control_characters(frame(task, shown, len(records)))
