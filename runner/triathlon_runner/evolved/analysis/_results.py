"""The evolved discipline's lines of a results folder (`results/runs/<model>/evolved/*.jsonl`)."""

from pathlib import Path

from triathlon_runner.errors import UserError
from triathlon_runner.records import EvolvedRecord
from triathlon_runner.store import ResultsFolder, read_records


def read_results(folder: ResultsFolder) -> dict[str, dict[str, tuple[EvolvedRecord, ...]]]:
    """Records by model and suite id; lines of another protocol than their manifest's are left out.

    Raises:
        UserError: there are no results of this discipline, or a line that is no record.
    """
    runs = folder.root / "runs"
    records: dict[str, dict[str, tuple[EvolvedRecord, ...]]] = {}
    for path in sorted(runs.glob("*/evolved/*.jsonl")):
        model = path.relative_to(runs).parts[0]
        records.setdefault(model, {})[f"evolved/{path.stem}"] = _read(folder, model, path)
    if not records:
        raise UserError(
            f"expected results of the evolved discipline in {str(runs)!r}, found none;"
            " run `triathlon run` first or name another folder at --results"
        )
    return records


def _read(folder: ResultsFolder, model: str, path: Path) -> tuple[EvolvedRecord, ...]:
    manifest = folder.read_manifest(model, f"evolved/{path.stem}")
    return tuple(
        record
        for record in read_records(path, EvolvedRecord)
        if manifest is None or record.protocol == manifest.protocol
    )
