"""From a manifest back to the work that it describes, without models.yaml: rows may have gone since."""

from typing import Any, Literal

from triathlon_runner.endpoints import ApiConfig
from triathlon_runner.records import Manifest
from triathlon_runner.registry import ModelRow
from triathlon_runner.schedule import BuiltSuite, Work
from triathlon_runner.suites import Judged
from triathlon_runner.verify._replay import ReplayJudge

_KINDS: tuple[Literal["instruct", "base"], ...] = ("instruct", "base")


def work_of(model: str, built: BuiltSuite, manifest: Manifest | None) -> Work:
    """The work whose protocol the manifest names; where none has it, that of an instruct model.

    An import's protocol is its log's checksum.
    """
    settings = manifest.settings if manifest is not None else {}
    if isinstance(built.suite, Judged):
        judge = settings.get("judge")
        built.suite.judge = ReplayJudge(str(judge["model"])) if judge else None
    if manifest is not None and manifest.origin is not None:
        base = manifest.identity.get("kind") == "base"
        return Work(_row(model, "base" if base else "instruct"), built, settings)
    works = [Work(_row(model, kind), built, _settings(built, kind, settings)) for kind in _KINDS]
    wanted = manifest.protocol if manifest is not None else ""
    return next((work for work in works if work.protocol == wanted), works[0])


def _row(model: str, kind: Literal["instruct", "base"]) -> ModelRow:
    nowhere = ApiConfig(base_url="http://localhost/v1", model=model)
    return ModelRow(id=model, name=model, kind=kind, api=nowhere)


def _settings(built: BuiltSuite, kind: str, stored: dict[str, Any]) -> dict[str, Any]:
    own = {"row_settings": stored["row_settings"]} if "row_settings" in stored else {}
    return {**built.suite.protocol(kind), **own}
