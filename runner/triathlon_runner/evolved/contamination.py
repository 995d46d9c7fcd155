"""Whether a set copies: the longest passage that each problem shares with its parents and with the rest."""

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from triathlon_runner.datasets import Problem

COPY: Final = 0.5
"""Share of a docstring in one passage from which on it counts as copied."""
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Shared:
    """The longest run of words that one text shares with another; signs and letter case do not count."""

    other: str
    """task_id of the other problem."""
    words: int
    share: float
    """Of the words of the first text."""
    passage: str
    """As it stands in the first text."""


@dataclass(frozen=True, slots=True)
class Contamination:
    """What one problem shares."""

    task_id: str
    words: int
    """Of its docstring, examples left out."""
    parent: Shared | None
    """The longest passage with one of its parents; None where no parent is known."""
    rest: Shared | None
    """The longest with any other problem of its set."""

    @property
    def copied(self) -> bool:
        return any(one is not None and one.share >= COPY for one in (self.parent, self.rest))


def shared_passage(prompt: str, other: str, name: str) -> Shared:
    """The longest passage that two prompts' docstrings share.

    Args:
        prompt: signature and docstring.
        other: those of the other problem.
        name: its task_id.
    """
    return _longest(_text(prompt), _text(other), name)


def contamination(problems: Sequence[Problem], parents: Iterable[Problem] = ()) -> tuple[Contamination, ...]:
    """The report on a set.

    Args:
        problems: the set.
        parents: the problems that it may have been evolved from.
    """
    known = {parent.task_id: _text(parent.prompt) for parent in parents}
    texts = {problem.task_id: _text(problem.prompt) for problem in problems}
    return tuple(_report(problem, texts, known) for problem in problems)


def _report(problem: Problem, texts: dict[str, "_Text"], parents: dict[str, "_Text"]) -> Contamination:
    own = texts[problem.task_id]
    with_parents = [_longest(own, parents[name], name) for name in problem.parents if name in parents]
    others = [_longest(own, text, name) for name, text in texts.items() if name != problem.task_id]
    return Contamination(
        task_id=problem.task_id,
        words=len(own.words),
        parent=max(with_parents, key=lambda one: one.words, default=None),
        rest=max(others, key=lambda one: one.words, default=None),
    )


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Where each word stands in the text."""


def _text(prompt: str) -> _Text:
    prose = _docstring(prompt).partition(">>>")[0]
    found = list(_WORD.finditer(prose))
    return _Text(prose, tuple(match[0].lower() for match in found), tuple(match.span() for match in found))


def _docstring(prompt: str) -> str:
    """The docstring of the last function; of a prompt that is no program, such as MBPP's, everything."""
    with warnings.catch_warnings():  # an odd string escape in a foreign prompt is not our warning
        warnings.simplefilter("ignore")
        try:
            functions = [node for node in ast.parse(prompt).body if isinstance(node, ast.FunctionDef)]
        except SyntaxError:
            return prompt
    return (ast.get_docstring(functions[-1]) or "") if functions else prompt


def _longest(own: _Text, other: _Text, name: str) -> Shared:
    matcher = SequenceMatcher(None, own.words, other.words, autojunk=False)
    match = matcher.find_longest_match()
    if not match.size:
        return Shared(name, 0, 0.0, "")
    start, end = own.places[match.a][0], own.places[match.a + match.size - 1][1]
    return Shared(name, match.size, match.size / len(own.words), own.text[start:end])
