"""Values that have no plain form of their own, as the trusted side sees them."""

import marshal
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Tagged:
    """A value of a named type, reduced to plain data: `Tagged("decimal.Decimal", "1.50")`.

    Decimal numbers are equal by their value, as Python has it; not a number equals itself, as everywhere
    where results are compared.
    """

    type: str
    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tagged) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, Any]:
        if self.type == "decimal.Decimal" and isinstance(self.value, str):
            try:
                number = Decimal(self.value)
            except InvalidOperation:  # a program can have sent any text
                return self.type, self.value
            return self.type, str(number) if number.is_nan() else number
        return self.type, self.value


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
