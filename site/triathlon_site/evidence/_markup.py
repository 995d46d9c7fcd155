"""The parts of an evidence page that stand on it thousands of times.

Plain Python that returns escaped text: a template takes several times as long, and this is most of a cold
build. Every text of a model or a data set passes through `shown` or `escape`.
"""

from collections.abc import Iterable
from functools import cache
from html import escape
from typing import Final

from triathlon_runner.records import AnswerRecord, Verdict
from triathlon_site.evidence._words import Words

LONGEST_TEXT: Final = 12_000
"""Of a longer text, beginning and end are shown: the results file has it whole."""
KEPT_AT_END: Final = 2_000
_TAGS: Final = {"new": ("<ins>", "</ins>"), "gone": ("<del>", "</del>"), "same": ("", "")}


def cut(text: str) -> str:
    """A text short enough to read."""
    if len(text) <= LONGEST_TEXT:
        return text
    head, tail = text[: LONGEST_TEXT - KEPT_AT_END], text[-KEPT_AT_END:]
    return f"{head}\n\n[… {len(text) - LONGEST_TEXT:,} characters left out …]\n\n{tail}"


def folded(content: str | None, label: str, *, opened: bool = False) -> str:
    """A text under its label, one of ours, shown on demand; nothing for an empty one."""
    if not content:
        return ""
    start = "<details open>" if opened else "<details>"
    return f"{start}<summary>{label}</summary><pre>{shown(content)}</pre></details>"


def words(runs: Iterable[Words]) -> str:
    """A text with its new words and those that went marked."""
    tagged = ((_TAGS[run.kind], run.text) for run in runs)
    return "".join(f"{start}{shown(text)}{end}" for (start, end), text in tagged)


@cache
def outcome(name: str) -> str:
    """An outcome's name with its mark."""
    return f'<span class="outcome {escape(name)}">{escape(name.replace("_", " "))}</span>'


def failing(verdict: Verdict | None) -> str:
    """The failing input with what was expected and what came; nothing without one."""
    if verdict is None:
        return ""
    parts = []
    if found := verdict.failing:
        lines = {
            f"input {found.index + 1} of {verdict.total}": found.input,
            "expected": found.expected,
            "got": found.got,
        }
        rows = "".join(
            f"<div><dt>{name}</dt><dd><code>{shown(text)}</code></dd></div>" for name, text in lines.items()
        )
        parts.append(f'<dl class="failing">{rows}</dl>')
    if verdict.detail:
        parts.append(f'<p class="muted">{shown(verdict.detail)}</p>')
    return "".join(parts)


def answer(one: AnswerRecord, first: bool = False, span: int = 1) -> str:
    """A cell: the answer where it is right, else also what was. `first`: the first wrong of its chain."""
    width = f' colspan="{span}"' if span > 1 else ""
    mark = '<small class="first">first wrong step</small>' if first else ""
    if one.correct:
        return f'<td class="right"{width}>{mark}✓ <code>{shown(one.answer or "")}</code></td>'
    given = one.outcome.replace("_", " ") if one.answer is None else one.answer
    why = f"{shown(one.why)}; " if one.why else ""
    expected = " or ".join(f"<code>{shown(text)}</code>" for text in one.expected[:3])
    notes = f"<small>{why}was {expected}</small>"
    return f'<td class="wrong"{width}>{mark}✗ <code>{shown(given)}</code>{notes}</td>'


def shown(text: str) -> str:
    """A text that is short enough to read, escaped."""
    return escape(cut(text) if len(text) > LONGEST_TEXT else text)
