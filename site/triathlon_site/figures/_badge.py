"""A badge: two words beside each other, in colours of its own, as it stands on other people's pages."""

from markupsafe import Markup

from triathlon_site.figures._svg import tag

HEIGHT, PAD, LETTER = 20, 7.0, 6.3


def badge(name: str, value: str, colour: str) -> Markup:
    """Grey with the name on the left, coloured with the value on the right."""
    left, right = (len(text) * LETTER + 2 * PAD for text in (name, value))
    font = "Verdana, DejaVu Sans, sans-serif"
    texts = [
        tag("text", text, x=x, y=14, fill="#ffffff", font_family=font, font_size=11, text_anchor="middle",
            textLength=len(text) * LETTER)
        for text, x in ((name, left / 2), (value, left + right / 2))
    ]  # fmt: skip
    return tag(
        "svg",
        tag("title", f"{name}: {value}"),
        tag("rect", width=left, height=HEIGHT, fill="#55585e"),
        tag("rect", x=left, width=right, height=HEIGHT, fill=colour),
        *texts,
        xmlns="http://www.w3.org/2000/svg",
        width=left + right,
        height=HEIGHT,
        role="img",
    )
