"""How numbers look: one rule for each kind, the same on every page; each is a filter of the templates."""

import ast
import math
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from inspect import isfunction
from typing import Any, Final

from triathlon_runner.records import FailingCase
from triathlon_runner.syntax import program_lines
from triathlon_runner.terminal import counted
from triathlon_runner.unit_pages import evidence_page, lines_page, unit_anchor
from triathlon_site.ranking import Rank
from triathlon_site.uncertainty import Interval

NONE: Final = "–"
MINUS: Final = "−"
LONGEST_TEXT: Final = 12_000  # of a longer text, beginning and end are shown: the results file has it whole
KEPT_AT_END: Final = 2_000
_SIZE: Final = re.compile(r"(?:(\d+)\s*x\s*)?(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
_SMALLEST_FIRST: Final = re.compile(
    "(?:rank|tier|size)$|open|price|cost|drop|output tokens|reasoning|cut", re.IGNORECASE
)
"""Titles of columns of which less is better, or that count what is missing."""
_BILLIONS: Final = {"K": 1e-6, "M": 1e-3, "B": 1.0, "T": 1e3}


def in_unit(value: float, maximum: float) -> float:
    """The value in the unit that `score` shows it in: shares of 1 in per cent."""
    return 100 * value if maximum == 1 else value


def score(value: float | None, maximum: float) -> str:
    """Shares of 1 as per cent with one decimal, per cent with one, ASL (maximum 10) with two."""
    if value is None or math.isnan(value):
        return NONE
    return f"{in_unit(value, maximum):.{_decimals(maximum)}f}"


def _decimals(maximum: float) -> int:
    return 2 if 1 < maximum <= 10 else 1


def signed(value: float, maximum: float) -> str:
    """A difference: `+1.2`, `−0.4`; `0.0` where it is rounded to zero."""
    return signed_all([value], maximum)[0]


def signed_all(values: Sequence[float], maximum: float) -> list[str]:
    """Many differences at once, which takes a third of the time."""
    decimals = _decimals(maximum)
    text = f"%+.{decimals}f;" * len(values) % tuple([in_unit(value, maximum) for value in values])
    zero = f"{0:.{decimals}f};"
    return text.replace(f"+{zero}", zero).replace(f"-{zero}", zero).replace("-", MINUS).split(";")[:-1]


def known_range(value: float, upper: float | None, maximum: float) -> str:
    """The score; where it is only known to lie between two ends, both."""
    low = score(value, maximum)
    high = low if upper is None else score(upper, maximum)
    return low if low == high else f"{low}–{high}"


def span(interval: Interval, maximum: float) -> str:
    """An interval: `40.0–60.0`."""
    if not interval.known:
        return NONE
    return f"{score(interval.low, maximum)}–{score(interval.high, maximum)}"


def rank(value: Rank | None) -> str:
    """`=3` where the place is shared."""
    if value is None:
        return NONE
    return f"={value.rank}" if value.tied else str(value.rank)


def rank_span(value: Rank | None) -> str:
    """The interval of a rank: `1–3`."""
    if value is None:
        return ""
    return str(value.low) if value.low == value.high else f"{value.low}–{value.high}"


def shift(value: int) -> str:
    """`+2`, `−3`, `0`, with a true minus sign."""
    return f"{value:+d}".replace("-", MINUS) if value else "0"


def points(value: float) -> str:
    """Points of the index, whole ones: `50`, `−3`."""
    return f"{round(value)}".replace("-", MINUS)


def coefficient(value: float) -> str:
    """A correlation: `0.95`, `−0.10`."""
    return NONE if math.isnan(value) else f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS)


def shade(value: float) -> str:
    """The class of a correlation's colour: sign and strength in five steps."""
    if math.isnan(value):
        return "none"
    return f"{'neg' if value < 0 else 'pos'}{min(4, int(abs(value) * 5))}"


def sentence(text: str) -> str:
    """With a capital letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def inside(title: str) -> str:
    """A title as it stands within a sentence: `mean pass@1`; `ASL` and `HumanEval+` are names and stay."""
    first = title.split(" ", maxsplit=1)[0].strip(",")
    return title[:1].lower() + title[1:] if first[1:].isalpha() and first[1:].islower() else title


def count(value: float) -> str:
    """1,234,567."""
    return f"{value:,.0f}"


def price(value: float, digits: int = 10) -> str:
    """A price or size as it was stated, or a computed one in fewer digits: no exponent."""
    return f"{Decimal(f'{value:.{digits}g}'):f}"


def gigabytes(value: float) -> str:
    """Three digits, and all before the point: `0.27`, `16.1`, `1,342`."""
    return count(value) if value >= 100 else price(value, 3)


def percent(share: float | None) -> str:
    """A share of 1 in whole per cent: `42 %`."""
    return NONE if share is None else f"{100 * share:.0f} %"


def sortable(value: float) -> str:
    """A number as scripts sort by it."""
    return f"{value:.6g}"


def dollars(value: float) -> str:
    """An amount without its sign: `12.34`; below 1 two digits behind its zeros: `0.00051`."""
    return f"{value:.2f}" if value >= 1 else price(value, digits=2)


def duration(seconds: float) -> str:
    """`89 s`, `12 min`, `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def timestamp(day: str) -> str:
    """A day, month or year as RFC 3339 has it: `2025-10-01T00:00:00Z`; of an unknown day the epoch's."""
    try:
        return f"{_day(day)}T00:00:00Z"
    except ValueError:
        return "1970-01-01T00:00:00Z"


def _day(text: str) -> date:
    """The day that a text names: of a year its middle, of a month its first; ValueError where it is none."""
    return date.fromisoformat({4: f"{text}-07-01", 7: f"{text}-01"}.get(len(text), text))


def web_address(text: str | None) -> str:
    """The text where it is an http or https address, which may become a link; else empty."""
    return text if text and re.match(r"https?://[^/\s]", text, re.IGNORECASE) else ""


def billions(size: str) -> float | None:
    """A model's size as a number to sort by: `135M` → 0.135; `8x22B` → 176."""
    match = _SIZE.search(size)
    if not match:
        return None
    return float(match[1] or 1) * float(match[2]) * _BILLIONS[match[3].upper()]


def words(name: str) -> str:
    """The name of an outcome as words: `timed out`."""
    return name.replace("_", " ")


def kind(outcome: str) -> str:
    """The class of an outcome's colour: `partly` where some of several units passed."""
    if outcome.endswith((" loop", " loops")):
        return "passed"
    if " of " in outcome:
        return "failed" if outcome.startswith("0 of ") else "partly"
    return outcome


def first_order(title: str, data_type: str) -> str:
    """The order of a column that is sorted by for the first time: the best first, and names from A.

    `data_type`: `number` or `text`. Of ranks, sizes, prices and drops the smallest come first.
    """
    return "ascending" if data_type == "text" or _SMALLEST_FIRST.match(title) else "descending"


def receipt_anchor(suite: str) -> str:
    """The id of a suite's receipt on the page of a model."""
    return f"receipt-{re.sub(r'[^a-z0-9]+', '-', suite.lower())}"


def expected_value(case: FailingCase) -> str:
    """What the call should have given; of a test `assert call == value` that value."""
    if not case.expected.startswith("assert "):
        return case.expected
    statement = re.sub(r" \(\w+: .*\)$", "", case.expected, flags=re.DOTALL)
    try:
        match ast.parse(statement).body, ast.parse(case.input).body:
            case (
                [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]))],
                [ast.Expr(value=call)],
            ) if ast.dump(left) == ast.dump(call):
                return ast.get_source_segment(statement, right) or case.expected
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return case.expected


def cut(text: str) -> str:
    """A text short enough to read: of a long one the beginning and the end."""
    if len(text) <= LONGEST_TEXT:
        return text
    head, tail = text[: LONGEST_TEXT - KEPT_AT_END], text[-KEPT_AT_END:]
    return f"{head}\n\n[… {len(text) - LONGEST_TEXT:,} characters left out …]\n\n{tail}"


def shorten(name: str, most: int = 24) -> str:
    """A name of at most so many letters: names are cut in figures only; the table beside has them whole."""
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"


def px(value: float) -> str:
    """A length in a figure, with at most one decimal: a tenth of a pixel is more than an eye sees."""
    return f"{value + 0.0:.1f}".removesuffix(".0")  # plus 0.0, so that there is no -0.0


def path_data(points: Iterable[tuple[float, float]], closed: bool = False) -> str:
    """A line through points, as the `d` of a path."""
    return f"M{' '.join(f'{px(x)},{px(y)}' for x, y in points)}{'Z' if closed else ''}"


shell = shlex.quote
FILTERS: Final[dict[str, Callable[..., Any]]] = {
    name: function
    for name, function in list(globals().items())
    if isfunction(function) and not name.startswith("_")
} | {of.__name__: of for of in (counted, evidence_page, lines_page, program_lines, unit_anchor)}
"""Every format, what counts things in words, lines of programs and addresses of evidence, for templates."""
