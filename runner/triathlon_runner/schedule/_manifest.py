"""Manifests: under which conditions the lines of a results file were made."""

import json
from datetime import UTC, datetime
from typing import Any

from triathlon_runner import __version__
from triathlon_runner.engine_version import ENGINE_VERSION
from triathlon_runner.llm import EndpointStats
from triathlon_runner.memo import library_versions, python_version
from triathlon_runner.records import DataSetRecord, Manifest, ProtocolHashes, UnitRecord
from triathlon_runner.sandbox import integrity
from triathlon_runner.schedule._identity import WEIGHTS, difference, with_weights
from triathlon_runner.schedule._models import OpenModel
from triathlon_runner.schedule._plan import Work
from triathlon_runner.store import ResultsFile, ResultsFolder


def is_finished(work: Work, manifest: Manifest | None, size: int) -> bool:
    """Whether the manifest shows this work complete and the results file unchanged."""
    return (
        manifest is not None
        and manifest.open_units == 0
        and manifest.bytes == size
        and manifest.planned == work.built.digest
        and manifest.protocol == work.protocol
        and not _other_settings(manifest, work)
        and not difference(manifest.identity, work.identity)
    )


def differs(work: Work, file: ResultsFile[Any], manifest: Manifest | None) -> str:
    """Why the lines of a file are not to be mixed with new ones, in words; empty where they may be."""
    if not file.units:
        return ""
    if others := file.models_and_suites - {(work.row.id, work.suite_id)}:
        return f"another model or suite: lines of {', '.join(' '.join(place) for place in sorted(others))}"
    if other_protocols := file.protocols - {work.protocol}:
        return _other_protocol(work, other_protocols, manifest)
    if manifest is None:
        return ""
    if manifest.protocol != work.protocol:
        return f"a protocol that their manifest does not name (it names '{manifest.protocol}': restore it)"
    settings, model = _other_settings(manifest, work), difference(manifest.identity, work.identity)
    return f"other settings: {settings}" if settings else f"another model: {model}" if model else ""


def _other_settings(manifest: Manifest, work: Work) -> str:
    """Returns which settings beside the protocol differ, in words; earlier versions' manifests lack them."""
    if "graded" not in manifest.settings:
        return ""
    names = ("api", "max_tokens", "judge")
    before, now = ({name: place.get(name) for name in names} for place in (manifest.settings, work.settings))
    return "; ".join(
        f"{name} was {before[name]!r}, is {now[name]!r}" for name in names if before[name] != now[name]
    )


def _other_protocol(work: Work, others: set[ProtocolHashes], manifest: Manifest | None) -> str:
    what = f"another protocol ({', '.join(sorted(map(str, others)))}, now {work.protocol})"
    if manifest is None or manifest.protocol not in others:
        return what
    if manifest.data.sha256 != work.built.suite.data.sha256:
        # With the checksum: a file may change while its version stays.
        old, new = (
            f"{data.name} {data.version}, SHA-256 {data.sha256[:12]}"
            for data in (manifest.data, work.built.suite.data)
        )
        return f"other data ({old}, now {new})"
    now = json.loads(json.dumps(work.settings))  # as a manifest has it: tuples are lists there
    changed = [
        f"{part}.{key}"
        for part in ("asked", "graded")
        if isinstance(before := manifest.settings.get(part), dict)
        for key in sorted(before.keys() | now[part].keys())
        if before.get(key) != now[part].get(key)
    ]
    return f"{what}: {', '.join(changed)} changed" if changed else what


def write_manifest(
    folder: ResultsFolder,
    work: Work,
    file: ResultsFile[UnitRecord],
    opened: OpenModel | None,
    *,
    failures: dict[str, int],
    sandbox_level: str,
    profile: str,
    begins: bool,
) -> None:
    """Writes the manifest, unless nothing was asked and the one that is there still holds.

    Args:
        folder: the results.
        work: what is wanted.
        file: the lines that are there.
        opened: the model's server; None where none of this suite's units was asked of it.
        failures: why units stay open, with the number of units.
        sandbox_level: of the sandbox that programs are executed in.
        profile: of the run.
        begins: units are about to be asked; the manifest says so until the run has ended.
    """
    before = folder.read_manifest(work.row.id, work.suite_id)
    if before is not None and before.protocol != work.protocol:
        before = None
    open_units = len(work.open_units(file.units))
    outcomes = dict(sorted(file.outcomes.items()))
    if before is not None and opened is None and not failures:
        known = (before.outcomes, before.open_units, before.bytes)
        if known == (outcomes, open_units, file.size) and not before.unfinished:
            return
        planned_before = sum(before.outcomes.values()) + before.open_units
        has_its_lines = before.unfinished or before.outcomes == outcomes
        if has_its_lines and planned_before - len(file.units) > open_units:  # of a larger run
            return
    now = datetime.now(UTC).isoformat(timespec="seconds")
    data, price = work.built.suite.data, work.row.price
    manifest = Manifest(
        suite=work.suite_id,
        model=work.row.id,
        protocol=work.protocol,
        settings=dict(work.settings),
        data=DataSetRecord(name=data.name, version=data.version, sha256=data.sha256),
        runner_version=__version__,
        **_versions(before, file, adds=begins and open_units > 0),
        sandbox_level=sandbox_level,
        grader_integrity=integrity(sandbox_level),
        profile=profile,
        private=work.built.entry.private,
        tasks_in_suite=len(work.built.tasks),
        tasks_planned=len(
            {task.task_id for task in work.built.chosen} | {task_id for task_id, _ in file.units}
        ),
        open_units=open_units,
        open_reasons=dict(failures),
        outcomes=outcomes,
        usage=file.usage,
        cost_usd=price.cost_of(file.usage) if price is not None else None,
        planned=work.built.digest,
        bytes=file.size,
        started=before.started if before else now,
        ended="" if begins else now,
        **_of_server(work, opened, before if file.units or not begins else None, begins=begins),
    )
    folder.write_manifest(manifest)


def _of_server(
    work: Work, opened: OpenModel | None, before: Manifest | None, *, begins: bool
) -> dict[str, Any]:
    """Returns what is known of the model's server; where it was not reached now, what was known before."""
    stats = opened.stats if opened else EndpointStats()
    context_full = {"refused": stats.too_long, "cut": stats.cut_by_context}
    context_full = {name: count for name, count in context_full.items() if count}
    speed = None if begins else stats.tokens_per_second
    servers = [before.served_by] if before else []  # of lines from several servers each is named
    if opened and not any(opened.served_by in name for name in servers):
        servers.append(opened.served_by)
    source = opened or before
    weights = opened.weights if opened else before.identity.get(WEIGHTS) if before else None
    was_heard = stats.answered or stats.findings
    return {
        "served_model": source.served_model if source else "not reached",
        "served_by": " and ".join(servers) or "not reached",
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
