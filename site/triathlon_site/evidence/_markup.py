"""The parts of an evidence page that stand on it thousands of times.

Filters in plain Python: a macro of jinja takes several times as long, and this is most of a cold build.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from markupsafe import Markup, escape

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


def folded(content: str | None, label: str, *, opened: bool = False) -> Markup:
    """A text under its label, shown on demand; nothing for an empty one."""
    if not content:
        return Markup("")
    start = "<details open>" if opened else "<details>"
    return _safe(f"{start}<summary>{escape(label)}</summary><pre>{_shown(content)}</pre></details>")


def words(runs: Iterable[Words]) -> Markup:
    """A text with its new words and those that went marked."""
    tagged = ((_TAGS[run.kind], run.text) for run in runs)
    return _safe("".join(f"{start}{_shown(text)}{end}" for (start, end), text in tagged))


def outcome(name: str) -> Markup:
    """An outcome's name with its mark."""
    return _safe(f'<span class="outcome {escape(name)}">{escape(name.replace("_", " "))}</span>')


def failing(verdict: Verdict | None) -> Markup:
    """The failing input with what was expected and what came; nothing without one."""
    if verdict is None:
        return Markup("")
    parts = []
    if found := verdict.failing:
        lines = {
            f"input {found.index + 1} of {verdict.total}": found.input,
            "expected": found.expected,
            "got": found.got,
        }
        rows = "".join(
            f"<div><dt>{name}</dt><dd><code>{_shown(text)}</code></dd></div>" for name, text in lines.items()
        )
        parts.append(f'<dl class="failing">{rows}</dl>')
    if verdict.detail:
        parts.append(f'<p class="muted">{_shown(verdict.detail)}</p>')
    return _safe("".join(parts))


def answer(one: AnswerRecord, first: bool = False, span: int = 1) -> Markup:
    """A cell: the answer where it is right, else also what was. `first`: the first wrong of its chain."""
    width = f' colspan="{span}"' if span > 1 else ""
    mark = '<small class="first">first wrong step</small>' if first else ""
    if one.correct:
        return _safe(f'<td class="right"{width}>{mark}✓ <code>{_shown(one.answer or "")}</code></td>')
    given = one.outcome.replace("_", " ") if one.answer is None else one.answer
    why = f"{_shown(one.why)}; " if one.why else ""
    expected = " or ".join(f"<code>{_shown(text)}</code>" for text in one.expected[:3])
    notes = f"<small>{why}was {expected}</small>"
    return _safe(f'<td class="wrong"{width}>{mark}✗ <code>{_shown(given)}</code>{notes}</td>')


def _shown(text: str) -> Markup:
    return escape(cut(text))


def _safe(markup: str) -> Markup:
    """Every text in it came through `escape`."""
    return Markup(markup)


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "cut": cut,
    "folded": folded,
    "words": words,
    "outcome": outcome,
    "failing": failing,
    "answer": answer,
}
