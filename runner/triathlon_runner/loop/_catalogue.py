"""The loop suites: three data sets, each with every variant (EVALOOOP, RQ1 and RQ3).

On official data the authors' two prompts are asked; attacks and the other summary prompts are our wording of
listings 3.1 and 3.2, of which there is no file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from triathlon_runner.datasets import DataStore, FunctionProblem, core, official
from triathlon_runner.datasets.user import USER_VERSION, UserDataSet, check_examples
from triathlon_runner.loop._metrics import metrics
from triathlon_runner.loop._prompt import BASE_STOPS, Attack, Setting, Summary, with_official
from triathlon_runner.loop._suite import LoopSuite
from triathlon_runner.prompts import load_prompts
from triathlon_runner.records import LoopRecord
from triathlon_runner.suites import DataSetInfo, DisciplineEntry, SuiteEntry

SUMMARIES: Final[tuple[Summary, ...]] = ("detailed", "upper", "structured", "simplified", "redundant")
TEMPERATURES: Final = (0.2, 0.4, 0.6, 0.8)
ATTACKS: Final[tuple[Attack, ...]] = ("upper", "structured", "redundant")


@dataclass(frozen=True, slots=True)
class _Source:
    """A data set that the loop can run on."""

    id: str
    title: str
    read: Callable[[DataStore], tuple[Sequence[FunctionProblem], DataSetInfo]]
    core: bool = False
    user_data: UserDataSet | None = None
    official: bool = False
    """Whether the paper's own runs are to be reproduced: with its prompts, and what a model wrote
    is executed as it stands."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A protocol setting that differs, with the name behind the suite's `@`; no name is the paper's own."""

    name: str = ""
    title: str = ""
    kind: str = ""
    setting: Setting = field(default_factory=Setting)


VARIANTS: Final = (
    *(
        Variant(f"prompt-{style}", f"summary prompt: {style}", "prompts", Setting(summary=style))
        for style in SUMMARIES
    ),
    *(
        Variant(f"temperature-{value}", f"temperature {value}", "temperatures", Setting(temperature=value))
        for value in TEMPERATURES
    ),
    *(
        Variant(f"attack-{name}", f"first prompt attacked: {name}", "attacks", Setting(1, attack=name))
        for name in ATTACKS
    ),
)
REPEATED: Final = {"temperature-0.8": 5}
"""By variant, the samples a task of EVALOOOP's figure 3, which names no temperature: we take the highest of
RQ3."""


def catalogue(prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """Every loop suite; nothing is read for this. `prompts` is `--prompts`."""
    return tuple(entry for source in _SOURCES for entry in _entries(source, prompts))


def suites_of_user(data: UserDataSet, prompts: Path | None = None) -> tuple[SuiteEntry, ...]:
    """Every loop suite on a data set of the user's own."""

    def read(_store: DataStore) -> tuple[Sequence[FunctionProblem], DataSetInfo]:
        problems = data.read()
        check_examples(problems)
        return problems.functions, DataSetInfo(data.id, USER_VERSION, problems.sha256)

    return _entries(_Source(f"loop/{data.id}", f"Loop on {data.title}", read, user_data=data), prompts)


def _entries(source: _Source, prompts: Path | None) -> tuple[SuiteEntry, ...]:
    return tuple(
        _entry(source, prompts, variant, own_prompts=own_prompts)
        for own_prompts in ((False, True) if source.official else (False,))
        for variant in (Variant(), *VARIANTS)
    )


def _entry(source: _Source, prompts: Path | None, variant: Variant, *, own_prompts: bool) -> SuiteEntry:
    """Returns a variant's suite; `own_prompts`: our prompts are asked in place of the authors'."""
    setting = replace(variant.setting, as_written=source.official)
    own = ["own-prompts"] if own_prompts else []
    name, kind = ("+".join(filter(None, [*own, text])) for text in (variant.name, variant.kind))
    title = ", ".join(filter(None, ["our prompts" if own_prompts else "", variant.title]))
    suite_id = f"{source.id}@{name}" if name else source.id

    def build(store: DataStore) -> LoopSuite:
        problems, data = source.read(store)
        templates = load_prompts("loop", prompts)
        if source.official and not own_prompts:
            templates = with_official(templates, official.loop_prompts(store))
        return LoopSuite(suite_id, data, problems, templates, setting)

    return SuiteEntry(
        id=suite_id,
        title=f"{source.title} ({title})" if name else source.title,
        discipline="loop",
        metrics=metrics(setting.max_loops),
        record=LoopRecord,
        build=build,
        sampling=setting.sampling(),
        base_stop=BASE_STOPS,
        most_requests=2 * setting.max_loops - 1,  # a program and a summary a loop, none after the last
        quick_tasks=5,
        core=source.core,
        user_data=source.user_data,
        variant_of=source.id if name else None,
        variant_kind=kind or None,
        default_samples=REPEATED.get(name, 1) if source.official else 1,
    )


_SOURCES: Final = (
    _Source(
        "loop/core",
        "Loop on our own problems",
        lambda _: (core.problems("seeds"), DataSetInfo("core/seeds", core.VERSION, core.sha256("seeds"))),
        core=True,
    ),
    _Source(
        "loop/mbpp-plus",
        "Loop on MBPP+",
        lambda store: (official.mbpp_plus(store), DataSetInfo.of(official.MBPP_PLUS, name="mbpp-plus")),
        official=True,
    ),
    _Source(
        "loop/humaneval-plus",
        "Loop on HumanEval+",
        lambda store: (
            official.humaneval_plus(store),
            DataSetInfo.of(official.HUMANEVAL_PLUS, name="humaneval-plus"),
        ),
        official=True,
    ),
)

DISCIPLINE: Final = DisciplineEntry(
    "loop", catalogue, partial(load_prompts, "loop"), suites_of_user=suites_of_user
)
