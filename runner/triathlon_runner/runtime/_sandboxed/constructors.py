"""The names that the text of a value may use."""

import datetime
import sys
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any


def constructors() -> dict[str, Any]:
    """Constructors of values by name; those of numpy only where the program has imported it."""
    names: dict[str, Any] = {
        "nan": float("nan"),
        "inf": float("inf"),
        "datetime": datetime,
        "Counter": Counter,
        "OrderedDict": OrderedDict,
        "deque": deque,
        "defaultdict": _defaultdict,
        "dict_keys": lambda keys: dict.fromkeys(keys).keys(),
        "dict_items": lambda items: dict(items).items(),
        "dict_values": lambda values: dict(enumerate(values)).values(),
        "Decimal": Decimal,
        "Fraction": Fraction,
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        names |= {"array": numpy.array, "matrix": numpy.asmatrix, "np": numpy, "numpy": numpy}
    return names


def _defaultdict(*content: Any) -> dict[Any, Any]:
    """`defaultdict(list, {1: [2]})`, and as the text of a value has it, `defaultdict({1: [2]})`."""
    return dict(content[-1]) if content and not callable(content[-1]) else {}
