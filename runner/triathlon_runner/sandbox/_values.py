"""Values that have no plain form of their own, as the trusted side sees them."""

import marshal
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value of a named type, reduced to plain data: `Tagged("decimal.Decimal", "1.50")`."""

    type: str
    value: Any


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """Something that can't cross, such as a generator or a function. Equal to nothing but itself."""

    type: str


def is_plain(value: Any) -> bool:
    """Whether a decoded value can be sent into a sandbox: nothing tagged or opaque is in it."""
    try:
        marshal.dumps(value)
    except ValueError:
        return False
    return True
