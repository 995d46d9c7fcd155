"""A badge: two words beside each other, in colours of its own, as it stands on other people's pages."""

from typing import Final

from markupsafe import Markup

from triathlon_site.figures._template import draw

HEIGHT: Final = 20
PAD: Final = 7.0
LETTER: Final = 6.3
"""Width of a letter."""


def badge(name: str, value: str, colour: str) -> Markup:
    """Grey with the name on the left, coloured with the value on the right."""
    left, right = (len(text) * LETTER + 2 * PAD for text in (name, value))
    words = ((name, left / 2, len(name) * LETTER), (value, left + right / 2, len(value) * LETTER))
    sides = {"left": left, "right": right, "colour": colour}
    return draw("badge", f"{name}: {value}", left + right, HEIGHT, **sides, words=words)
