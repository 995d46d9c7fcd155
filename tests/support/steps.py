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
    parse_or_none.cache_clear()

    def trace(_frame: FrameType, event: str, _value: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(source: str, *rest: Any, **named: Any) -> Any:
            nonlocal count
            count += len(source)
            return function(source, *rest, **named)

        return counted

    parse, table = counting(ast.parse), counting(symtable.symtable)
    with patch.object(ast, "parse", parse), patch.object(symtable, "symtable", table):
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            function()
        finally:
            sys.settrace(before)
    return count
