"""The manifest beside each results file: under which conditions its lines were made."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from triathlon_runner.foreign_files import in_words
from triathlon_runner.records._base import SCHEMA_VERSION, Amount, Count, Outcome, Protocol, Strict, Usage


def sampling_of(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns temperature, top_p, max_tokens and stop as far as settings name them; earlier versions' too."""
    places = [settings, *(settings.get(name) for name in ("sampling", "asked"))]
    return {
        name: place[name]
        for place in places
        if isinstance(place, Mapping)
        for name in ("temperature", "top_p", "max_tokens", "stop")
        if name in place
    }


def asks_base_model(settings: Mapping[str, Any]) -> bool:
    """Returns whether a manifest's settings say that the model completes texts; earlier versions' too."""
    return "completion" in str(settings.get("api") or settings.get("asked"))


def sampling_sent(settings: Mapping[str, Any], identity: Mapping[str, Any]) -> dict[str, Any]:
    """Returns temperature, top_p and max_tokens but those that nobody stated or the row calls unsupported."""
    not_sent = {"stop", *identity.get("unsupported", ())}
    stated = sampling_of(settings).items()
    return {name: value for name, value in stated if name not in not_sent and value is not None}


def samples_are_copies(sent: Mapping[str, Any]) -> bool:
    """Whether all samples of a task are one reply, which the cache gives to each: at temperature 0."""
    return sent.get("temperature") == 0


def _check_date(text: str) -> str:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected a date (ISO 8601), got {text[:40]!r}") from None
    return text


Date = Annotated[str, AfterValidator(_check_date)]
"""ISO 8601."""


class _Known(BaseModel):
    """Base of the parts of `settings` and `identity` that are read; others are kept as they are."""

    model_config = ConfigDict(strict=True, extra="ignore")


class _Sampling(_Known):
    temperature: Amount | None = None
    top_p: Amount | None = None
    max_tokens: Count | None = None


class _Judge(_Sampling):
    model: str


class _Questions(_Known):
    count: Count = 0
    left_out_programs: dict[str, str] = Field(default_factory=dict)


class _Settings(_Sampling):
    asked: _Sampling | str | None = None
    questions: _Questions | None = None
    sampling: _Sampling | None = None
    judge: _Judge | None = None


class _Identity(_Known):
    kind: str = ""
    unsupported: list[str] | tuple[str, ...] = ()


def _check_known(parts: type[_Known], values: dict[str, Any]) -> dict[str, Any]:
    try:
        parts.model_validate(values)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise ValueError(f"{place}: {in_words(fault)}, got {fault['input']!r:.40}") from None
    json.dumps(values, allow_nan=False)
    return values


Outcomes = dict[Annotated[str, AfterValidator(lambda name: Outcome(name).value)], Count]
"""Units by outcome."""


class DataSetRecord(Strict):
    name: str
    version: str
    sha256: str


class Manifest(Strict):
    """`<suite>.manifest.json`, rewritten whole after each run of the suite."""

    schema_version: Literal[1] = SCHEMA_VERSION
    suite: str
    model: str
    served_model: str
    """The model's name as the server gives it."""
    served_by: str
    """`api` with its host, or the engine with version, precision and device."""
    protocol: Protocol
    settings: Annotated[dict[str, Any], AfterValidator(partial(_check_known, _Settings))]
    """In the clear what the hashes cover (`asked`, `graded`), and beside it what else shapes replies: chat
    or completion, token limit, stop strings, judge, the Python that traced."""
    data: DataSetRecord
    runner_version: str
    engine_versions: tuple[int, ...] = ()
    """Versions of extraction and grading that graded the lines: more than one where a run went on after a
    change, 0 for a version that was not written down; none in manifests from before versions were kept."""
    python_versions: tuple[Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+$")], ...] = ()
    """Of the interpreters that executed the programs of the lines, as `3.11`; none in older manifests."""
    libraries: dict[str, str] = Field(default_factory=dict)
    """Versions of the libraries that the programs of the last run could import; none in older manifests."""
    sandbox_level: str
    grader_integrity: str
    """Which ways out of the sandbox were tried before a program was executed; from logs: `not run`."""
    profile: str
    private: bool = False
    """Whether suites.yaml keeps the texts of tasks and replies out of the site."""
    tasks_in_suite: Count
    tasks_planned: Count
    """Fewer than `tasks_in_suite` where the profile takes a subset."""
    open_units: Count
    """Planned units without a result: their infrastructure failed; the next run tries them again."""
    open_reasons: dict[str, Count] = Field(default_factory=dict)
    outcomes: Outcomes
    context_full: dict[str, Count] = Field(default_factory=dict)
    """Of the last run with this model, where there were any: questions `refused` as longer than the context,
    and replies `cut` because question and reply filled it."""
    findings: tuple[str, ...] = ()
    """What the server's list and its first replies showed of how it behaves, each with the row's setting."""
    usage: Usage
    cost_usd: Amount | None
    """At the row's price; None where it names none, or where `usage` has requests that no server counted."""
    identity: Annotated[dict[str, Any], AfterValidator(partial(_check_known, _Identity))] = Field(
        default_factory=dict
    )
    """What of the model's row shapes its answers, in the clear, and the weights that were served; results
    of two identities are never mixed."""
    planned: str | None = None
    """Hash of the planned units, in earlier versions' files."""
    bytes: Count | None = None
    """Size of the results file."""
    tokens_per_second: Amount | None = None
    """Output tokens of the model a second, over all suites of its last run, while it was answering."""
    origin: dict[str, str] | None = None
    """Where imported results come from; None for what was asked here."""
    started: Date
    """ISO 8601, UTC."""
    ended: Annotated[str, AfterValidator(lambda text: text and _check_date(text))]
    """Empty while a run is going on, and for ever where it was killed: what the manifest counts is then what
    there was when it began."""

    @property
    def judge(self) -> str | None:
        """Id of the LLM judge that `settings` names, under the key `judge`; None where there was none."""
        named = self.settings.get("judge")
        return str(named["model"]) if named else None

    @property
    def sampling(self) -> dict[str, Any]:
        """The sampling that was sent, as `sampling_sent` has it."""
        return sampling_sent(self.settings, self.identity)

    @property
    def unfinished(self) -> bool:
        """Whether the last run did not come to its end."""
        return not self.ended
