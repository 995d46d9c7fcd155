"""Reading the manifest beside a results file."""

from pathlib import Path

from triathlon_runner.records import Manifest
from triathlon_runner.store import fault_of_manifest
from triathlon_site.load._checks import unreadable
from triathlon_site.load._notice import Notice, first_fault


def read_manifest(path: Path, file: str, model: str, suite: str) -> tuple[Manifest | None, list[Notice]]:
    """The manifest, or a notice of what is wrong with it.

    Args:
        path: of the manifest.
        file: the results file that it belongs to, relative to the results folder.
        model: whose results these are.
        suite: on what.
    """
    archive = f"`triathlon results archive --models {model} --suites {suite}`"
    if not path.exists():
        message = (
            "no manifest beside it: its lines count, under conditions that are unknown; `triathlon run`"
            f" writes a new one, {archive} puts the lines aside"
        )
        return None, [Notice(file=file, message=message)]
    try:
        manifest, fault = None, unreadable(path)
        if not fault:
            manifest = Manifest.model_validate_json(path.read_bytes())
            fault = fault_of_manifest(manifest, model, suite)
    except ValueError as error:
        fault = first_fault(error)
    if not fault:
        return manifest, []
    message = (
        f"its manifest cannot be used: {fault}; its lines count, under conditions that are unknown: mend the"
        f" manifest, or put both aside with {archive}"
    )
    return None, [Notice(file=file, message=message)]
