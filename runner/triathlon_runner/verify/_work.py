"""Rebuilds the work that a manifest describes, without models.yaml: rows may have been removed."""

from triathlon_runner.endpoints import ApiConfig, ModelKind
from triathlon_runner.models_yaml import ModelRow
from triathlon_runner.records import ROW_SETTINGS, Manifest
from triathlon_runner.schedule import BuiltSuite, Work, with_row_settings
from triathlon_runner.verify._replay import ReplayJudge

_KINDS: tuple[ModelKind, ...] = ("instruct", "base")


def work_of(model: str, built: BuiltSuite, manifest: Manifest | None) -> Work:
    """Returns the work whose settings hash the manifest names; where none has it, that of an instruct model.

    An import's settings are its log's checksum.
    """
    if manifest is None:
        return _work(model, built, None, "instruct")
    if manifest.origin is not None:
        base = manifest.identity.get("kind") == "base"
        return Work(_row(model, "base" if base else "instruct"), built, manifest.settings)
    works = [_work(model, built, manifest, kind) for kind in _KINDS]
    return next((work for work in works if work.settings_hash == manifest.protocol), works[0])


def _work(model: str, built: BuiltSuite, manifest: Manifest | None, kind: ModelKind) -> Work:
    judge = manifest.judge if manifest is not None else None
    row_settings = manifest.settings.get(ROW_SETTINGS, {}) if manifest is not None else {}
    settings = with_row_settings(built.suite.settings(kind, judge), row_settings)
    return Work(_row(model, kind), built, settings, ReplayJudge(judge) if judge else None)


def _row(model: str, kind: ModelKind) -> ModelRow:
    nowhere = ApiConfig(base_url="http://localhost/v1", model=model)
    return ModelRow(id=model, name=model, kind=kind, api=nowhere)
