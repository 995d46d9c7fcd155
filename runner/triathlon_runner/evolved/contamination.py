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

    other_task_id: str
    """Of the problem that the second text belongs to."""
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
        return any(shared is not None and shared.share >= COPY for shared in (self.parent, self.rest))


def shared_passage(prompt: str, other_prompt: str, other_task_id: str) -> Shared:
    """The longest passage that two prompts' docstrings share.

    Args:
        prompt: signature and docstring.
        other_prompt: those of the other problem.
        other_task_id: of the other problem.
    """
    return _longest(_text(prompt), _text(other_prompt), other_task_id)


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


def _with_parents(problem: Problem, text: "_Text", parents: Mapping[str, "_Text"]) -> Shared | None:
    passages = [_longest(text, parents[name], name) for name in problem.parents if name in parents]
    return max(passages, key=lambda passage: passage.words, default=None)


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
        shared = {name: place for name in runs if (place := _first_shared_run(name, runs[name], owners))}
        for name, (at, other_task_id) in shared.items():
            passages[name] = texts[name].passage(at, length, other_task_id)
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
    for name, runs_of_text in runs.items():
        for run in runs_of_text:
            known = owners.get(run, ())
            if len(known) < 2 and name not in known:
                owners[run] = (*known, name)
    return owners


def _first_shared_run(
    name: str, runs: Sequence[Any], owners: Mapping[Any, tuple[str, ...]]
) -> tuple[int, str] | None:
    """Position of the first run that another text has too, and that text."""
    for at, run in enumerate(runs):
        other_name = next((owner for owner in owners[run] if owner != name), None)
        if other_name is not None:
            return at, other_name
    return None


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Position of each word in the text."""

    def passage(self, at: int, length: int, other_task_id: str) -> Shared:
        """The `length` words from word `at` on, which the text of another problem has too."""
        start, end = self.places[at][0], self.places[at + length - 1][1]
        return Shared(other_task_id, length, length / len(self.words), self.text[start:end])


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


def _longest(text: _Text, other_text: _Text, other_task_id: str) -> Shared:
    matcher = SequenceMatcher(None, text.words, other_text.words, autojunk=False)
    match = matcher.find_longest_match()
    if not match.size:
        return Shared(other_task_id, 0, 0.0, "")
    return text.passage(match.a, match.size, other_task_id)
