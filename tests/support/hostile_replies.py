"""Replies that no model should write and some will: the corpus that the fuzz tests share.

`VALUES` are texts of values, `SHAPES` ways to wrap a text in a reply; `replies` crosses both and adds
`WHOLE`, and `generated` is a hypothesis strategy that puts such parts together at random. No text holds half
a surrogate pair as a character (an endpoint replaces these); escapes of one it holds.
"""

import itertools
from collections.abc import Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from support.case_files import sections

_PARTS: Final = {
    heading: tuple(map(eval, text.split("\n")))
    for heading, text in sections(Path(__file__).with_suffix(".txt")).items()
}
VALUES: Final = tuple(
    value
    for group in ("numbers", "constructed", "collections", "texts", "code", "words")
    for value in _PARTS[group]
)
"""Texts of values, programs and words, each hostile to some step of reading it."""
SHAPES: Final = _PARTS["shapes"]
"""Ways to write a text into a reply; each `{}` stands for the text."""
WHOLE: Final = _PARTS["whole"]
"""Whole replies of about a megabyte, most of them one line: extraction must not take time that grows faster
than the reply."""


def shaped(shape: str, text: str) -> str:
    """A text in one shape."""
    return shape.replace("{}", "\1").replace("{{", "{").replace("}}", "}").replace("\1", text)


def replies() -> Iterator[str]:
    """Every value in every shape, then the whole replies: more than 11,000."""
    for value, shape in itertools.product(VALUES, SHAPES):
        yield shaped(shape, value)
    yield from WHOLE


def generated() -> st.SearchStrategy[str]:
    """Parts of the corpus and random text, joined and wrapped at random."""
    characters = st.characters(exclude_categories=["Cs"])
    part = st.one_of(
        st.sampled_from([value for value in VALUES if len(value) < 200]),
        st.text(characters, max_size=12),
        st.text("()[]{}<>'\"`\\#;:,.=-+*/ \n\t019aejnxANSWER?", max_size=24),
        st.integers().map(str),
        st.floats().map(repr),
        st.binary(max_size=6).map(repr),
    )
    joined = st.lists(part, min_size=1, max_size=4).flatmap(
        lambda parts: st.sampled_from(["", " ", "\n", ", ", "; ", ": "]).map(lambda mark: mark.join(parts))
    )
    shapes = st.lists(st.sampled_from(SHAPES), max_size=3)
    return st.builds(partial(reduce, lambda text, shape: shaped(shape, text)), shapes, joined)
