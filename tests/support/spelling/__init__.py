"""A discipline made of a folder, a record type and one line in the catalogue: words spelt backwards."""

from support.spelling._catalogue import DISCIPLINE
from support.spelling._record import SpellingRecord

__all__ = ["DISCIPLINE", "SpellingRecord"]
