"""Data files: what is written fast reads as the standard library would have written it."""

import json
from typing import Any

import pytest

from triathlon_site.pages._data import _indented

HOSTILE = ('["a",\n   "b"]', "},\n   {", "[", "a]", '"', "\\", "\u2028", "", "loop/core")


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"a": 1}],
        [{"a": text, "b": [text, *HOSTILE], "c": [text], "d": []} for text in HOSTILE],
        [dict.fromkeys(HOSTILE, value) for value in (None, True, 0.1, -3, 1e22)],
    ],
)
def test_rows_look_as_the_slow_encoder_writes_them(rows: list[dict[str, Any]]) -> None:
    """Whatever a text holds: brackets, line ends and quotation marks in it are no structure."""
    content = {"rows": rows}
    expected = json.dumps(content, indent=1, ensure_ascii=False)
    assert f'{{\n "rows": {_indented(rows)}\n}}' == expected
