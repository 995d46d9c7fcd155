"""Whether a set copies: the longest passage that each problem shares with its parents and with the rest."""

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from triathlon_runner.datasets import Problem
from triathlon_runner.syntax import top_functions

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
    """As in the first text."""


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
    rest = _longest_with_any(texts)
    return tuple(
        Contamination(
            task_id=problem.task_id,
            words=len(texts[problem.task_id].words),
            parent=_with_parents(problem, texts[problem.task_id], known),
            rest=rest.get(problem.task_id),
        )
        for problem in problems
    )


def _with_parents(problem: Problem, own: "_Text", parents: Mapping[str, "_Text"]) -> Shared | None:
    passages = [_longest(own, parents[name], name) for name in problem.parents if name in parents]
    return max(passages, key=lambda one: one.words, default=None)


def _longest_with_any(texts: Mapping[str, "_Text"]) -> dict[str, Shared]:
    """Returns for each text its longest passage that another text has too, and the first such text.

    Runs of 1, 2, 3… words are looked for in turn. Two texts that share n words share n - 1, too, so only
    texts that share a run of one length are searched for the next. Comparing each text with each would take
    minutes for a set of a thousand.
    """
    passages: dict[str, Shared] = {}
    length = 1
    runs: dict[str, list[Any]] = {name: list(text.words) for name, text in texts.items()}
    while runs:
        owners = _first_two_owners(runs)
        shared = {name: place for name, own in runs.items() if (place := _place(name, own, owners))}
        for name, (at, other) in shared.items():
            passages[name] = texts[name].passage(at, length, other)
        numbers: dict[tuple[Any, str], int] = {}
        runs = {
            # A run of one word more is the number of the run so far and the word behind it.
            name: [
                numbers.setdefault(run, len(numbers))
                for run in zip(runs[name], texts[name].words[length:], strict=False)
            ]
            for name in shared
        }
        length += 1
    return passages


def _first_two_owners(runs: Mapping[str, Sequence[Any]]) -> dict[Any, tuple[str, ...]]:
    owners: dict[Any, tuple[str, ...]] = {}
    for name, own in runs.items():
        for run in own:
            known = owners.get(run, ())
            if len(known) < 2 and name not in known:
                owners[run] = (*known, name)
    return owners


def _place(name: str, own: Sequence[Any], owners: Mapping[Any, tuple[str, ...]]) -> tuple[int, str] | None:
    """Position of the first run that another text has too, and that text."""
    for at, run in enumerate(own):
        other = next((owner for owner in owners[run] if owner != name), None)
        if other is not None:
            return at, other
    return None


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Position of each word in the text."""

    def passage(self, at: int, length: int, other: str) -> Shared:
        """So many words from the word `at` on, which another text has too."""
        start, end = self.places[at][0], self.places[at + length - 1][1]
        return Shared(other, length, length / len(self.words), self.text[start:end])


def _text(prompt: str) -> _Text:
    prose = _docstring(prompt).partition(">>>")[0]
    words = list(_WORD.finditer(prose))
    return _Text(prose, tuple(match[0].lower() for match in words), tuple(match.span() for match in words))


def _docstring(prompt: str) -> str:
    """The docstring of the last function; of a prompt that is no program, such as MBPP's, everything."""
    try:
        functions = top_functions(prompt)
    except SyntaxError:
        return prompt
    return (ast.get_docstring(functions[-1]) or "") if functions else prompt


def _longest(own: _Text, other: _Text, name: str) -> Shared:
    matcher = SequenceMatcher(None, own.words, other.words, autojunk=False)
    match = matcher.find_longest_match()
    if not match.size:
        return Shared(name, 0, 0.0, "")
    return own.passage(match.a, match.size, name)
