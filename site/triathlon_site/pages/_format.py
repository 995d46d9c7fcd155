"""How numbers look: one rule a kind, the same on every page."""

import math
from collections.abc import Callable
from datetime import date
from typing import Any, Final

from triathlon_site.ranking import Rank
from triathlon_site.uncertainty import Interval

NONE: Final = "–"
MINUS: Final = "−"


def score(value: float | None, maximum: float) -> str:
    """Shares of 1 as per cent with one decimal, per cent with one, ASL (maximum 10) with two."""
    if value is None or math.isnan(value):
        return NONE
    if maximum == 1:
        return f"{100 * value:.1f}"
    return f"{value:.2f}" if maximum <= 10 else f"{value:.1f}"


def signed(value: float, maximum: float) -> str:
    """A difference: `+1.2`, `−0.4`."""
    return f"{MINUS if value < 0 else '+'}{score(abs(value), maximum)}"


def known_range(value: float, upper: float | None, maximum: float) -> str:
    """The score; where it is only known to lie between two ends, both."""
    low = score(value, maximum)
    high = low if upper is None else score(upper, maximum)
    return low if low == high else f"{low}–{high}"


def span(interval: Interval, maximum: float) -> str:
    if not interval.known:
        return NONE
    return f"{score(interval.low, maximum)}–{score(interval.high, maximum)}"


def rank(value: Rank | None) -> str:
    """`=3` where the place is shared."""
    if value is None:
        return NONE
    return f"={value.rank}" if value.tied else str(value.rank)


def rank_span(value: Rank | None) -> str:
    if value is None:
        return ""
    return str(value.low) if value.low == value.high else f"{value.low}–{value.high}"


def change(value: float) -> str:
    """A change in per cent: `+1.2`, `−0.4`."""
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", MINUS)


def sentence(text: str) -> str:
    """With a capital letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def inside(title: str) -> str:
    """A title as it stands within a sentence: `mean pass@1`; `ASL` and `HumanEval+` are names and stay."""
    first = title.split(" ", maxsplit=1)[0].strip(",")
    return title[:1].lower() + title[1:] if first[1:].isalpha() and first[1:].islower() else title


def shift(value: int) -> str:
    """`+2`, `−3`, `0`, with a true minus sign."""
    if value == 0:
        return "0"
    return f"+{value}" if value > 0 else f"{MINUS}{-value}"


def coefficient(value: float) -> str:
    return NONE if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS)


def count(value: float) -> str:
    """1,234,567."""
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def age(as_of: str, newest: str) -> str:
    """How old a source is beside our newest result: `, 1.6 years older than our newest result`.

    Nothing under half a year, or where either day is not known. The clock is not asked: the same results
    give the same page.
    """
    try:
        years = (date.fromisoformat(newest) - _day(as_of)).days / 365.25
    except ValueError:
        return ""
    return f", {years:.1f} years older than our newest result" if years >= 0.5 else ""


def _day(text: str) -> date:
    """The day itself; of a year the middle, of a month the first.

    Raises:
        ValueError: it is none of these.
    """
    return date.fromisoformat({4: f"{text}-07-01", 7: f"{text}-01"}.get(len(text), text))


def percent(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.0f} %"


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    "score": score,
    "known_range": known_range,
    "span": span,
    "rank": rank,
    "rank_span": rank_span,
    "inside": inside,
    "sentence": sentence,
    "shift": shift,
    "signed": signed,
    "coefficient": coefficient,
    "count": count,
    "duration": duration,
    "age": age,
    "percent": percent,
}
