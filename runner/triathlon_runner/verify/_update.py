"""Bringing a results file up to date after a change of extraction or grading: its replies, graded anew."""

from collections import Counter
from typing import Any

from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.memo import python_version
from triathlon_runner.models_yaml import Price
from triathlon_runner.records import Manifest, UnitRecord, Usage
from triathlon_runner.store import ResultsFolder, archive, replace_file
from triathlon_runner.verify._verify import FileReport, Update

_NOT_ASKED: str = "graded anew, it asks for a reply that was never asked for"


def why_not_updated(report: FileReport) -> str:
    """Why a file cannot be brought up to date, in words; empty where it can."""
    left = [f"{what}: {why}" for what, why in report.unverified.items() if what not in report.not_in_evidence]
    return f"not all of it could be graded again ({left[0]})" if left else ""


def update_file(
    folder: ResultsFolder,
    report: FileReport,
    manifest: Manifest,
    *,
    price: Price | None,
    sandbox_level: str,
    integrity: str,
) -> None:
    """Writes the verdicts that verifying found in place of the stored ones; replies stay, and their usage.

    A unit that now asks a question to which no reply is stored leaves the file and is open again. The caller
    holds the model's lock since the file was read.

    Args:
        folder: Where the file lies.
        report: That of `verify_file`, which gets the update; `why_not_updated` returns an empty text for it.
        manifest: The file's.
        price: Of the model, for the cost of the lines that stay where a unit is open again; None: not known.
        sandbox_level: The isolation level at which it was graded.
        integrity: The grader's integrity, for the manifest.

    Raises:
        UserError: the disk is full or the folder cannot be written; the file stays as it was.
    """
    model, suite = report.model, report.suite
    has_judge = manifest.judge is not None
    current: list[UnitRecord] = []
    reopened: list[str] = []
    changed = 0
    for stored, replayed in report.pairs:
        if replayed is not None and stored.asks_the_same(replayed, has_judge=has_judge):
            current.append(replayed.with_usage_of(stored))
            changed += current[-1] != stored
        else:
            reopened.append(f"{stored.task_id} #{stored.sample}")
    text = "".join(record.model_dump_json(by_alias=True) + "\n" for record in current)
    archived_lines = None
    if changed or reopened:
        archived_lines = archive(folder, model, suite, copy=True).lines
        replace_file(folder.lines(model, suite), text)
    planned = sum(manifest.outcomes.values()) + manifest.open_units
    outcomes = Counter(record.outcome.value for record in current)
    usage = sum((record.usage for record in current), Usage())
    fields: dict[str, Any] = {
        "engine_versions": (ENGINE_VERSION,),
        "python_versions": (python_version(),),
        "sandbox_level": sandbox_level,
        "grader_integrity": integrity,
        "usage": usage,
        "outcomes": dict(sorted(outcomes.items())),
        # planned units that are not in the file; none for an import, which no run continues
        "open_units": 0 if manifest.origin is not None else max(0, planned - len(current)),
        "open_reasons": manifest.open_reasons | ({_NOT_ASKED: len(reopened)} if reopened else {}),
        "bytes": folder.size(model, suite),
    }
    if reopened:
        fields["cost_usd"] = price.cost_of(usage) if price is not None else None
    folder.write_manifest(manifest.model_copy(update=fields))
    report.update = Update(changed, reopened, archived_lines)
