"""Whether a set copies: the longest passage that each problem shares with its parents and with the rest."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

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


def shared_passage(prompt: str, other_prompts: Mapping[str, str]) -> Shared | None:
    """The longest passage of a prompt's docstring that another problem's has, too; None without others."""
    if not other_prompts:
        return None
    texts = {name: _text(other) for name, other in other_prompts.items()}
    nothing = Shared(next(iter(texts)), 0, 0.0, "")
    return _longest_shared({"": _text(prompt), **texts}).get("", nothing)


def contamination(problems: Sequence[Problem], parents: Iterable[Problem] = ()) -> tuple[Contamination, ...]:
    """The report on a set, beside the problems that it may have been evolved from."""
    known = {parent.task_id: parent.prompt for parent in parents}
    texts = {problem.task_id: _text(problem.prompt) for problem in problems}
    rest = _longest_shared(texts)
    return tuple(
        Contamination(
            task_id=problem.task_id,
            words=len(texts[problem.task_id].words),
            parent=shared_passage(
                problem.prompt, {name: known[name] for name in problem.parents if name in known}
            ),
            rest=rest.get(problem.task_id),
        )
        for problem in problems
    )


def _longest_shared(texts: Mapping[str, "_Text"]) -> dict[str, Shared]:
    """Returns for each text its longest passage that another text has too, and the first such text.

    Runs of 1, 2, 3… words are looked for in turn. Two texts that share n words share n - 1, too, so only
    texts that share a run of one length are searched for the next. Comparing each text with each would take
    minutes for a set of a thousand.
    """
    passages: dict[str, Shared] = {}
    left, length = texts, 1
    while left:
        owners: dict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
        for name, text in left.items():
            for run in text.runs(length):
                owners[run][name] = None
        shared = {}
        for name, text in left.items():
            others = ((at, o) for at, run in enumerate(text.runs(length)) for o in owners[run] if o != name)
            if (first := next(others, None)) is not None:
                shared[name] = text
                passages[name] = text.passage(first[0], length, first[1])
        left, length = shared, length + 1
    return passages


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Position of each word in the text."""

    def runs(self, length: int) -> Iterator[tuple[str, ...]]:
        return (self.words[at : at + length] for at in range(len(self.words) - length + 1))

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
