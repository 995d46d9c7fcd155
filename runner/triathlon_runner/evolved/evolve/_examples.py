"""Examples of a docstring: taken out, and real ones put in."""

from collections.abc import Sequence

from triathlon_runner.evolved.evolve._draft import Draft, with_docstring
from triathlon_runner.syntax import call_text

_SHOWN = 3
_SHORT = 100
"""Characters of a call with its value up to which it makes a good example."""


def choose(entry_point: str, results: Sequence[tuple[str, object]]) -> list[tuple[str, str]]:
    """A few short calls with their values, with different values where there are any.

    Args:
        entry_point: the function.
        results: source of an argument tuple, and what the function returned.
    """
    shown = [(call_text(entry_point, arguments), repr(value)) for arguments, value in results]
    short = [pair for pair in shown if len(pair[0]) + len(pair[1]) <= _SHORT and "\n" not in "".join(pair)]
    by_value = {value: (call, value) for call, value in reversed(short)}
    different = list(by_value.values())[::-1]
    rest = [pair for pair in short if pair not in different]
    return [*different, *rest][:_SHOWN]


def as_doctest(examples: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f">>> {call}\n{value}" for call, value in examples)


def with_real_examples(draft: Draft, examples: Sequence[tuple[str, str]]) -> Draft:
    """The problem with these examples in place of those of its docstring."""
    prose = without_examples(draft.docstring)
    return with_docstring(draft, f"{prose}\n\n{as_doctest(examples)}" if examples else prose)


def without_examples(docstring: str) -> str:
    """The docstring without `>>>` lines and the values below them."""
    prose_lines: list[str] = []
    in_example = False
    for line in docstring.split("\n"):
        text = line.strip()
        if text.startswith(">>>"):
            in_example = True
        elif not text:
            in_example = False
        if not in_example:
            prose_lines.append(line)
    while prose_lines and (
        not prose_lines[-1].strip() or prose_lines[-1].strip().lower().rstrip(":") in ("examples", "example")
    ):
        prose_lines.pop()
    return "\n".join(prose_lines).rstrip()
