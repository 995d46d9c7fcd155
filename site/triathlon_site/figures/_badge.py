"""A badge: two words beside each other, in colours of its own, as it stands on other people's pages."""

from markupsafe import Markup

from triathlon_site.figures._svg import tag

HEIGHT, PAD, LETTER = 20, 7.0, 6.3
FONT = "Verdana, DejaVu Sans, sans-serif"


def badge(name: str, value: str, colour: str) -> Markup:
    """Grey with the name on the left, coloured with the value on the right."""
    left, right = (len(text) * LETTER + 2 * PAD for text in (name, value))
    return tag(
        "svg",
        tag("title", f"{name}: {value}"),
        tag("rect", width=left, height=HEIGHT, fill="#55585e"),
        tag("rect", x=left, width=right, height=HEIGHT, fill=colour),
        _word(name, left / 2),
        _word(value, left + right / 2),
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=HEIGHT,
        role="img",
    )


def _word(text: str, x: float) -> Markup:
    return tag(
        "text",
        text,
        x=x,
        y=14,
        fill="#ffffff",
        font_family=FONT,
        font_size=11,
        text_anchor="middle",
        textLength=len(text) * LETTER,
    )
