"""Replies that no model should write and some will: the corpus that the fuzz tests share.

`VALUES` are texts of values, `SHAPES` ways to wrap a text in a reply; `replies` crosses both and adds
`WHOLE`, and `generated` is a hypothesis strategy that puts such parts together at random. No text holds half
a surrogate pair as a character (an endpoint replaces these); escapes of one it holds.
"""

import itertools
from collections.abc import Iterator
from functools import partial, reduce
from typing import Final

from hypothesis import strategies as st

NUMBERS: Final = (
    "0", "-0", "1_000", "0x" + "f" * 4_000, "0b" + "1" * 20_000, "0o" + "7" * 9_000, "9" * 4_300, "9" * 4_301,
    "9" * 30_000, "-" + "9" * 5_000, "10**400", "10**5000", "2**2**100", "1e308", "1e309", "-1e999", "1e-400",
    "0." + "3" * 10_000, "nan", "-nan", "NaN", "inf", "-inf", "Infinity", "float('nan')", "float('-inf')",
    "float('" + "9" * 5_000 + "')", "1j", "nan+nanj", "1e400j", "(1+2j)", "0777", "1__0", "١٢٣", "½",
    "-5 % 3",
)  # fmt: skip
CONSTRUCTED: Final = (
    "Decimal('sNaN')", "Decimal('NaN')", "Decimal('-Infinity')", "Decimal('1e999999999')", "Decimal(10**400)",
    "Decimal('1.5')", "Decimal((0, (1,), 99999999))", "Decimal('" + "9" * 9_000 + "')", "Decimal('x')",
    "Fraction(1, 0)", "Fraction('1e99999999')", "Fraction(1, 3)", "Fraction('nan')",
    "Fraction(Decimal('sNaN'))", "datetime.date(0, 0, 0)", "datetime.datetime(9999, 12, 31)",
    "datetime.timedelta(days=10**9)", "datetime.timedelta(days=float('nan'))", "datetime.time(25)",
    "date.fromisoformat('x')", "range(10**30)", "range(0, 1, 0)", "list(range(10**12))", "set([[]])",
    "frozenset({Decimal('sNaN')})", "dict([1])", "dict([(1, 2), (1,)])", "OrderedDict([([], 1)])",
    "Counter('abc')", "Counter([Decimal('sNaN')])", "defaultdict(<class 'list'>, {1: [2]})",
    "deque([1], maxlen=0)", "array([[1, 2], [3]])", "np.float64(nan)", "np.array([1e400])",
    "dict_keys([1, [2]])", "dict_items([(1, 2)])", "<Color.RED: 1>", "<__main__.Box object at 0x7f00>",
    "Box(x=1, x=2)", "Point(*[1])", "f(**{})", "slice(1, 2)", "Ellipsis", "...", "bytearray(b'a')",
    "memoryview(b'a')", "UUID('0')", "PosixPath('/')", "type(None)", "object()",
)  # fmt: skip
COLLECTIONS: Final = (
    "[]", "()", "{}", "set()", "[1]", "(1,)", "{1}", "{1: 2}", "[True]", "[1.0]", "[nan]",
    "[Decimal('sNaN')]", "[Decimal('1.5'), nan]", "{nan: nan}", "{Decimal('sNaN')}", "{Decimal('sNaN'): 1}",
    "{1: Decimal('sNaN')}", "{[]: 1}", "{{}}", "{1, True, 1.0}", "{0: 1, False: 2}", "[[], [[]], [[[]]]]",
    "{'a': [None, ...]}", "[" * 50 + "]" * 50, "[" * 99 + "]" * 99, "[" * 5_000 + "]" * 5_000, "(" * 300,
    "{" * 200, "[" * 20_000, "[" + "1, " * 10_000 + "]", "[" + "[], " * 30_000 + "]", "{" + "1: " * 500 + "}",
    "[*[1]]", "{**{}}", "[x for x in x]", "{" + ", ".join(map(str, range(3_000))) + "}",
    "(1, (2, (3, (4, (5, (6, (7,)))))))",
)  # fmt: skip
TEXTS: Final = (
    "''", "'a'", '"a', "'a", "'''a'''", "'''a", "b'\\xff'", "b'é'", "'\\ud800'", "'\\udfff\\ud800'",
    "'\\x00'", "\0", "a\0b", "'\\N{SNOWMAN}'", "'\\N{nothing}'", "'\\u12'", "'\\U00110000'", "'\\777'",
    "'\\d'", "f'{1!r:>{2}}'", "f'{'", "rb'a'", "u'a'", "'a' 'b' b'c'", "'" + "a" * 50_000 + "'",
    "'" + "\\" * 999, "\u202e'a'", "\ufeff1", "a\u200bb", "‘a’", "“a”", "'𝒳'", "\x1b[31m1\x1b[0m", "\r",
    "\x0c1", "\x85", "\u2028", "'a\u2028b'", "é" * 5_000,
)  # fmt: skip
CODE: Final = (
    "assert f(3) == 0x" + "f" * 4_000, "assert f(3) == " + "9" * 4_301, "assert f(3) == Decimal('sNaN')",
    "assert f(3) == ??", "assert f(3) == HOLE_0_", "assert f(3) == HOLE_999999999999_",
    "assert f(3) == " + "(" * 150, "assert f(3) == " + "-" * 2_000 + "1",
    "assert f(3) == " + "not " * 900 + "1", "assert f(3) == 1" + " + 1" * 5_000,
    "assert f(3) == " + "x." * 3_000 + "x", "assert f(3) == " + "f(" * 80 + ")" * 80,
    "assert f(3) == 10**10**10", "assert f(3) == 'a' * 10**12", "assert f(3) == [0] * 10**9",
    "assert f(3) == 1 if 1 else 1", "assert f(3)", "assert f(3) == '\\ud800'", "assert f(3) == 1\0",
    "assert f(3) == (yield)", "assert f(3) == await 1", "def f(x):\n    return x", "def f(x):\nreturn x",
    "def f(x):\n\t return x\n        return", "class f: pass", "f = lambda x: x", "async def f(x): return x",
    "import os; os._exit(0)", "raise SystemExit", "while True: pass", "return 10**400",
    "def f(x):\n    return 10**5000", "def f(x):\n    return float('nan')", "exit()", "quit()",
    "def f(x):\n" + "    if x:\n" * 1 + "\n" * 500 + "        pass", "x = " * 3_000 + "1",
    "lambda: " * 500 + "1", "\n".join(" " * depth + "if 1:" for depth in range(120)),
    "match x:\n case _: pass", "print('[/ANSWER]')", "# -*- coding: utf-7 -*-\n+AGE-",
    "#!/usr/bin/env python\n", "if True:\n  x\n y", "'''\nunclosed", "`f(3)`", ">>> f(3)\n3", "%%time\nf(3)",
    "!pip install x\ndef f(x): return x", "<script>alert(1)</script>", "{{ 7 * 7 }}",
)  # fmt: skip
WORDS: Final = (
    "", " ", "\n", "YES", "NO", "YES NO", "yes/no", "not executed", "Nil", "nil; nil", "None; None", "-1",
    "- 1", "line 5", "5: return x", ";", ";;;", "; ; int", "5; int", "5;", "; int", "5; int; str",
    "5; int\n(because)", "True; <class 'bool'>", "x; <class '", "1; List[Dict[str, Tuple[int, ...]]]",
    "1; int, int", "1; (((", "1; " + "[" * 5_000, "1; " + "a." * 9_000, "'" * 9_999, "`" * 9_999, "*" * 9_999,
    "-" * 9_999, "(" * 9_999 + ")", "[ANSWER]" * 2_000, "[" * 9_999, "no " * 5_000, "yes" * 5_000,
    "1" + " " * 50_000 + "2", "<" * 9_999, "<class '" * 2_000, "|im_end|", "</s>", "0.8", "0.8.", "**0.8**",
    "1e400", "-0.5", "null", "{\"answer\": 1}", "I cannot help with that.", "a" * 30_000,
)  # fmt: skip
VALUES: Final = (*NUMBERS, *CONSTRUCTED, *COLLECTIONS, *TEXTS, *CODE, *WORDS)
"""Texts of values, programs and words, each hostile to some step of reading it."""

SHAPES: Final = (
    "{}", "{}; int", "{}; list", "[{}]; list", "({},); tuple", "{{{}}}; set", "{{{}: {}}}; dict", "{}; str",
    "{}; float", "{}; Decimal", "{}; numpy.ndarray", "{}; datetime.datetime", "[ANSWER]\n{}\n[/ANSWER]",
    "[ANSWER]{}", "[ANSWER]\n{}\n[/ANS", "[THOUGHT]\n{}\n[/THOUGHT]\n[ANSWER]\n{}\n[/ANSWER]",
    "[THOUGHT]\n{}", "[/THOUGHT]{}", "[ANSWER][ANSWER]{}[ANSWER]", "```python\n{}\n```", "```python\n{}",
    "```\n{}", "{}\n```", "````\n```\n{}\n```\n````", "~~~\n{}\n~~~",
    "Sure!\n```python\n{}\n```\nAs you see:\n```\n{}\n```", "`{}`", "**{}**", "The answer is: {}",
    "assert f(3) == {}", "assert f({}) == ??", "assert f(3) == [{}]", "self.assertEqual(f(3), {})",
    "def f(x):\n    return {}", "def f(x):\n    {}", "{}\n{}", "<think>{}", "<think>\n{}\n</think>\n{}",
    "</think>{}", "\ufeff{}", "\0{}\0", "{}\r\n", "  {}  ", "> {}", "+{}", "1. {}", '{{"code": "{}"}}', "#{}",
    "'{}'", '"{}"',
)  # fmt: skip
"""Ways to write a text into a reply; each `{}` stands for the text."""

WHOLE: Final = (
    "a" * 1_000_000, "[" * 1_000_000, "1, " * 333_333, "\n" * 1_000_000, "\0" * 1_000_000, "`" * 1_000_000,
    "[ANSWER]" + "9" * 1_000_000, "```python\n" * 90_000, "x = 1\n" * 150_000, "(" * 1_000_000,
    " " * 1_000_000 + "1", "<think>" * 140_000, "'" + "\\" * 999_999, "1; int " * 140_000,
    "assert f(3) == " + "1" * 1_000_000, "#" * 1_000_000, "[ANSWER]\n" * 100_000, "-" * 1_000_000 + "1",
    "\u202e" * 300_000, "é" * 500_000, "yes no " * 140_000, ";" * 1_000_000,
)  # fmt: skip
"""Whole replies of about a megabyte, most of them one line: extraction must not take time that grows faster
than the reply."""


def shaped(shape: str, text: str) -> str:
    """A text in one shape."""
    return shape.replace("{}", "\1").replace("{{", "{").replace("}}", "}").replace("\1", text)


def replies() -> Iterator[str]:
    """Every value in every shape, then the whole replies: more than 11,000."""
    for value, shape in itertools.product(VALUES, SHAPES):
        yield shaped(shape, value)
    yield from WHOLE


def generated() -> st.SearchStrategy[str]:
    """Parts of the corpus and random text, joined and wrapped at random."""
    characters = st.characters(exclude_categories=["Cs"])
    part = st.one_of(
        st.sampled_from([value for value in VALUES if len(value) < 200]),
        st.text(characters, max_size=12),
        st.text("()[]{}<>'\"`\\#;:,.=-+*/ \n\t019aejnxANSWER?", max_size=24),
        st.integers().map(str),
        st.floats().map(repr),
        st.binary(max_size=6).map(repr),
    )
    joined = st.lists(part, min_size=1, max_size=4).flatmap(
        lambda parts: st.sampled_from(["", " ", "\n", ", ", "; ", ": "]).map(lambda mark: mark.join(parts))
    )
    shapes = st.lists(st.sampled_from(SHAPES), max_size=3)
    return st.builds(partial(reduce, lambda text, shape: shaped(shape, text)), shapes, joined)
