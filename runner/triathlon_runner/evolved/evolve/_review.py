"""The page on which a person accepts or refuses evolved problems; copies the accepted ones."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from jinja2 import Environment, StrictUndefined
from pydantic import TypeAdapter, ValidationError

from triathlon_runner.datasets import Problem
from triathlon_runner.errors import UserError
from triathlon_runner.evolved.contamination import Shared, shared_passage
from triathlon_runner.evolved.evolve._draft import main_function
from triathlon_runner.evolved.evolve._files import History, Workspace
from triathlon_runner.records import Strict
from triathlon_runner.store import replace_file

_TEMPLATE: Final = "review.html.jinja"
DECISIONS: Final = "decisions.json"
"""What the page's button saves; lies in the same folder as the page."""


class Decision(Strict):
    """A reviewer's decision about one problem."""

    verdict: Literal["accept", "refuse"]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """One problem as the page shows it."""

    history: History
    file: str
    prompts: tuple[str, ...]
    inputs: tuple[tuple[str, str], ...]
    seeds: tuple[tuple[str, str], ...]
    """(task_id, prompt)."""
    shared: Shared | None
    """Longest passage that its docstring shares with a seed."""
    decision: Decision | None


def write_review(workspace: Workspace, seeds: Sequence[Problem]) -> Path:
    """Writes `review.html`, which needs nothing but a browser.

    Raises:
        UserError: there is nothing to review.
    """
    histories = workspace.histories()
    if not histories:
        raise UserError(
            f"nothing has been evolved in {str(workspace.root)!r} yet; run `triathlon evolve` first"
        )
    decisions = read_decisions(workspace)
    by_id = {seed.task_id: seed for seed in seeds}
    finished = [_card(workspace, history, by_id, decisions) for history in histories if history.file]
    dropped = [history for history in histories if not history.file]
    # Model text goes into the page: everything is escaped.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string((files(__package__) / _TEMPLATE).read_text("utf-8"))
    path = workspace.root / "review.html"
    page = template.render(
        cards=finished,
        dropped=dropped,
        decisions_file=DECISIONS,
        model=histories[0].model,
        out=str(workspace.root),
    )
    replace_file(path, page)
    return path


def _card(
    workspace: Workspace, history: History, seeds: Mapping[str, Problem], decisions: Mapping[str, Decision]
) -> Card:
    path = workspace.root / history.transformation / history.file
    content = tomllib.loads(path.read_text("utf-8"))
    parts: list[dict[str, Any]] = content.get("half", [content])
    prompts = tuple(f"{part.get('helpers', '')}{part['prompt']}".strip("\n") for part in parts)
    known = [seeds[name] for name in history.parents if name in seeds]
    seed_prompts = {seed.task_id: seed.prompt for seed in known}
    passages = [passage for prompt in prompts if (passage := shared_passage(prompt, seed_prompts))]
    return Card(
        history=history,
        file=f"{history.transformation}/{history.file}",
        prompts=prompts,
        inputs=tuple(item for part in parts for item in part.get("inputs", {}).items()),
        seeds=tuple((seed.task_id, seed.prompt.strip("\n")) for seed in known),
        shared=max(passages, key=lambda passage: passage.words, default=None),
        decision=decisions.get(history.job),
    )


def read_decisions(workspace: Workspace) -> dict[str, Decision]:
    """The decisions so far, by job; none where there is no file.

    Raises:
        UserError: the file is not what the page saves.
    """
    path = workspace.root / DECISIONS
    try:
        return TypeAdapter(dict[str, Decision]).validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        raise UserError(f"{str(path)!r} is not what the review page saves: {error}") from error


@dataclass(frozen=True, slots=True)
class Applied:
    accepted: tuple[Path, ...]
    """The problem files, under `accepted/<transformation>/`, ready to be moved into a set."""
    refused: tuple[str, ...]
    undecided: tuple[str, ...]


def apply_decisions(workspace: Workspace) -> Applied:
    """Copies what was accepted to `accepted/<transformation>/<name>.toml`, with its history.

    Raises:
        UserError: a decision about an unknown problem, or two accepted problems of one name.
    """
    decisions = read_decisions(workspace)
    histories = {history.job: history for history in workspace.histories() if history.file}
    unknown = sorted(decisions.keys() - histories.keys())
    if unknown:
        raise UserError(f"{DECISIONS} decides about {unknown[0]!r}; there is no such problem to review")
    verdicts = {job: decision.verdict for job, decision in decisions.items()}
    chosen = {job: history for job, history in histories.items() if verdicts.get(job) == "accept"}
    targets = {job: _target(workspace, history) for job, history in chosen.items()}
    doubled = [path for path in targets.values() if list(targets.values()).count(path) > 1]
    if doubled:
        raise UserError(f"two accepted problems are called {doubled[0].stem!r}; refuse one of them")
    for job, path in targets.items():
        history = chosen[job]
        source = workspace.root / history.transformation / history.file
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, source.read_text("utf-8"))
        record = json.loads(history.model_dump_json(by_alias=True)) | {"review": decisions[job].model_dump()}
        replace_file(path.with_suffix(".history.json"), json.dumps(record, indent=1) + "\n")
    return Applied(
        accepted=tuple(targets.values()),
        refused=tuple(job for job, verdict in verdicts.items() if verdict == "refuse"),
        undecided=tuple(job for job in histories if job not in verdicts),
    )


def _target(workspace: Workspace, history: History) -> Path:
    """Named after the function, except where a problem keeps its seed's name (rewordings and halves)."""
    content = tomllib.loads((workspace.root / history.transformation / history.file).read_text("utf-8"))
    name = history.parents[0].rpartition("/")[2]
    if "reference" in content:
        name = main_function(content["prompt"]).name.replace("_", "-")
    return workspace.root / "accepted" / history.transformation / f"{name}.toml"
