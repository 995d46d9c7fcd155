"""What a run says of results files that are not as a run leaves them, and of errors of our own."""

from triathlon_runner.screen import counted
from triathlon_runner.store import ContradictingLineError, ResultsFolder

_REASON_CHARACTERS = 200


def advice(error: Exception, folder: ResultsFolder, model: str, suite: str) -> str:
    """What to do about a line that contradicts itself; other damaged lines' messages say it themselves."""
    if not isinstance(error, ContradictingLineError):
        return ""
    verify = f"`triathlon verify --models {model} --suites {suite}{folder.option}`"
    return f". {verify} shows what the rest of the line says; delete the line and run again to ask anew"


def about_missing_manifest(folder: ResultsFolder, model: str, suite: str, lines: int) -> str:
    """That nobody knows under which conditions lines were made which a run goes on from."""
    path = str(folder.lines(model, suite))
    return (
        f"{model} {suite}: no manifest beside {path!r}: the conditions that its {counted(lines, 'line')} were"
        " made under are unknown. They count, and this run writes a new manifest; put them aside with"
        f" {folder.archive_command(model, suite)} if they may be another model's"
    )


def in_a_line(error: BaseException) -> str:
    """An exception of no kind that is expected, short and printable: it may quote what a model wrote."""
    text = ascii(f"{type(error).__name__}: {error}")[1:-1]
    return text if len(text) <= _REASON_CHARACTERS else f"{text[:_REASON_CHARACTERS]}…"
