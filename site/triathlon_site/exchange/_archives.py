"""What the site itself offers in other programs' formats: scores alone, which need no line of results."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from triathlon_site.exchange import _every_eval_ever, _hugging_face
from triathlon_site.exchange._source import EARLIEST, Source, sources_of
from triathlon_site.load import Results
from triathlon_site.models import ModelInfo
from triathlon_site.render import Page
from triathlon_site.scores import Board


@dataclass(frozen=True, slots=True)
class Archive:
    """All scores in one format, as a zip file of the site."""

    form: str
    """Name of the format, as `triathlon export` takes it."""
    page: Page
    files: int
    """In the zip."""


_Fault = Callable[[Source], str]
_Files = Callable[[Source], Iterator[tuple[str, str]]]
_FORMATS: Final[Mapping[str, tuple[_Fault, _Files]]] = {
    "every-eval-ever": (
        _every_eval_ever.fault,
        lambda source: iter([_every_eval_ever.scores_file(source)]),
    ),
    "hugging-face": (_hugging_face.fault, _hugging_face.files),
}


def archives(
    results: Results, boards: Sequence[Board], models: Mapping[str, ModelInfo], url: str = ""
) -> Iterator[Archive]:
    """Yields the zip of each format that is small: a file a model and suite, without samples.

    A format that holds none of the results is left out.
    """
    entries = {entry.id: entry for board in boards for entry in board.plan.suites}
    sources = sources_of(results.files, boards, models, entries.get, url=url)
    for form, (fault, files) in _FORMATS.items():
        content: dict[str, str] = {}
        for path, text in (file for source in sources if not fault(source) for file in files(source)):
            content.setdefault(path, text)  # of two rows with one link, the first, as by the command
        if content:
            yield Archive(form, Page(f"data/{form}.zip", "", _packed(content)), len(content))


def _packed(files: Mapping[str, str]) -> bytes:
    target = io.BytesIO()
    with ZipFile(target, "w") as archive:
        for path, content in files.items():
            archive.writestr(ZipInfo(path, EARLIEST), content, ZIP_DEFLATED)
    return target.getvalue()
