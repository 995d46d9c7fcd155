"""Packed JSON as small scripts: a page that is opened from a file may load nothing else."""

import base64
import gzip
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

PACK_CHARACTERS: Final = 400_000
"""Of HTML in one pack: some 40 kB to load for one unit. Smaller ones are more files, and pack worse."""


def packed(content: Any) -> str:
    """A script that hands over the content, in Python's base 85; the same bytes for the same content."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    return f'triathlonPack("{base64.b85encode(gzip.compress(text, 9, mtime=0)).decode()}")\n'


def in_packs(tasks: Iterable[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """The tasks of each pack, with the HTML of each."""
    pack: dict[str, str] = {}
    for task, html in tasks:
        if pack and sum(map(len, pack.values())) + len(html) > PACK_CHARACTERS:
            yield pack
            pack = {}
        pack[task] = html
    if pack:
        yield pack
