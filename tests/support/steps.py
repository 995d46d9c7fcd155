"""Counts the steps of a computation: a measure of its time that no other load on the machine changes."""

import ast
import symtable
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any
from unittest.mock import patch

from triathlon_runner.syntax import parse_or_none


def steps_of(function: Callable[[], object]) -> int:
    """Returns how many lines of Python run, plus the characters that Python's parser reads."""
    count = 0
    parse, table = ast.parse, symtable.symtable
    parse_or_none.cache_clear()

    def trace(_frame: FrameType, event: str, _value: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    def parsed(source: str, *rest: Any, **named: Any) -> Any:
        nonlocal count
        count += len(source)
        return parse(source, *rest, **named)

    def tabled(source: str, *rest: Any) -> Any:
        nonlocal count
        count += len(source)
        return table(source, *rest)

    with patch.object(ast, "parse", parsed), patch.object(symtable, "symtable", tabled):
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            function()
        finally:
            sys.settrace(before)
    return count
