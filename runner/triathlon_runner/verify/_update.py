"""Writing a verified file anew: with the verdicts of today, or as outcomes without texts."""

import hashlib
import json
import math
from collections import Counter
from typing import Any, Final

from triathlon_runner import records
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.memo import library_versions, python_version
from triathlon_runner.models_yaml import Price
from triathlon_runner.sandbox import integrity
from triathlon_runner.store import RecordedFile, ResultsFolder, archive, replace_file
from triathlon_runner.suites import SuiteEntry
from triathlon_runner.verify._verify import COST_OF_ASKING, FileReport, Update

_DAY: Final = len("2026-01-31")
_OF_THE_LAST_RUN: Final = ("planned", "bytes", "tokens_per_second")
"""Fields of the manifest that say nothing of the outcomes: of the whole file, or of the last run alone."""
_NOT_ASKED: Final = "graded anew, it asks for a reply that was never asked for"


def update_file(
    folder: ResultsFolder,
    report: FileReport,
    manifest: records.Manifest,
    *,
    price: Price | None,
    sandbox_level: str,
) -> None:
    """Writes the verdicts that verifying found in place of the stored ones; replies stay, and their usage.

    A unit that now asks a question to which no reply is stored leaves the file and is open again. Where not
    all could be graded again the file stays. The caller holds the model's lock since the file was read.

    `report` gets the update, or a note why there is none; `price` is the model's, for the cost of the lines
    that stay.
    """
    for what, why in report.unverified.items():
        if what not in report.not_in_evidence:
            note = f"not brought up to date: not all of it could be graded again ({what}: {why})"
            report.notes.append(note)
            return
    current: list[records.UnitRecord] = []
    reopened: list[str] = []
    changed = 0
    for stored, graded in report.pairs:
        if graded is None or not _asks_the_same(stored, graded, has_judge=manifest.judge is not None):
            reopened.append(f"{stored.task_id} #{stored.sample}")
            continue
        cost = {name: getattr(stored, name) for name in COST_OF_ASKING if hasattr(stored, name)}
        current.append(graded.model_copy(update=cost))
        changed += current[-1] != stored
    archived_lines = None
    if changed or reopened:
        archived_lines = archive(folder, report.model, report.suite, copy=True)
        text = "".join(record.model_dump_json(by_alias=True) + "\n" for record in current)
        replace_file(folder.lines(report.model, report.suite), text)
    planned = sum(manifest.outcomes.values()) + manifest.open_units
    usage = sum((record.usage for record in current), records.Usage())
    fields: dict[str, Any] = {
        "engine_versions": (ENGINE_VERSION,),
        "python_versions": (python_version(),),
        "libraries": library_versions(),
        "sandbox_level": sandbox_level,
        "grader_integrity": integrity(sandbox_level),
        "usage": usage,
        "outcomes": dict(sorted(Counter(record.outcome.value for record in current).items())),
        # planned units that are not in the file; none for an import, which no run continues
        "open_units": 0 if manifest.origin is not None else max(0, planned - len(current)),
        "open_reasons": manifest.open_reasons | ({_NOT_ASKED: len(reopened)} if reopened else {}),
        "bytes": folder.lines(report.model, report.suite).stat().st_size,
    }
    if reopened:
        fields["cost_usd"] = price.cost_of(usage) if price is not None else None
    folder.write_manifest(manifest.model_copy(update=fields))
    report.update = Update(changed, reopened, archived_lines)


def _asks_the_same(stored: records.UnitRecord, graded: records.UnitRecord, *, has_judge: bool) -> bool:
    """Returns whether the stored replies answer the questions that are asked after grading anew.

    Of a loop those are its prompts, the programs that were summarised, and the two that the judge compared:
    another verdict leads to another question, to which nobody replied. Other units ask the same always.
    """
    if not isinstance(stored, records.LoopRecord) or not isinstance(graded, records.LoopRecord):
        return True
    pairs = list(zip(stored.loops, graded.loops, strict=False))
    if any(old.prompt != new.prompt for old, new in pairs):
        return False
    if any(old.program != new.program for old, new in pairs if new.summary_reply is not None):
        return False
    needs_judge = has_judge and 1 <= graded.sustained_loops < len(graded.loops)
    if needs_judge or graded.judge_replies:
        same_end = len(stored.loops) == len(graded.loops)
        return same_end and all(old.program == new.program for old, new in pairs[-2:])
    return True


def compact_file(
    folder: ResultsFolder, entry: SuiteEntry, manifest: records.Manifest, report: FileReport
) -> RecordedFile:
    """Writes a verified results file anew without its texts and returns the new file; the old one stays.

    `report` is what verifying it showed: every line follows from its evidence. Where the suite's scores need
    more than a recorded line has, or samples are missing, it is refused.
    """
    whole = [stored for stored, _ in report.pairs]
    by_task, path = entry.recorded_by_task, folder.lines(report.model, report.suite)
    texts = ["\0".join(question.extracted for question in record.questions()) for record in whole]
    units = [(record, text, False) for record, text in zip(whole, texts, strict=True)]
    lines = records.lines_without_texts(units, by_task=by_task)
    receipt = records.Receipt(
        source=records.MEASURED_HERE,
        title="measured with this program",
        address="",
        commit=manifest.runner_version,
        date=manifest.ended[:_DAY],
        licence="",
        note="every line followed from its replies before they were left out",
        file=path.relative_to(folder.root).as_posix(),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        engine_version=ENGINE_VERSION,
        compared=report.units,
        equal=report.verified,
    )
    kept = records.RecordedManifest.model_validate(
        {
            **manifest.model_dump(),
            **dict.fromkeys(_OF_THE_LAST_RUN),
            "ended": manifest.ended[:_DAY],
            "max_loops": next(
                (each.max_loops for each in whole if isinstance(each, records.LoopRecord)), None
            ),
            "line_holds": "task" if by_task else "sample",
            "receipt": receipt,
        }
    )
    kept_units = [unit for line in lines for unit in kept.unit(json.dumps(line).encode()).apart()]
    for metric in entry.metrics:
        before, after = metric.score(whole), metric.score(kept_units)
        if before != after and not (math.isnan(before) and math.isnan(after)):
            raise UserError(
                f"{entry.id}: expected {metric.title} {before:g} of the lines without texts, got {after:g};"
                " keep the whole file"
            )
    file = RecordedFile(folder.root, records.MEASURED_HERE, report.model, report.suite)
    file.write(kept, lines)
    return file
