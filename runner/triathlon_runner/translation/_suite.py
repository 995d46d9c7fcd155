"""The translation suites: the loop whose steps are languages (EVALOOOP, section 5)."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from triathlon_runner import loop, suites
from triathlon_runner.concurrency import in_other_process
from triathlon_runner.datasets import DataStore, core, official
from triathlon_runner.grading import Grader
from triathlon_runner.llm import ModelKind, Sampling
from triathlon_runner.metrics import Metric
from triathlon_runner.prompts import PromptSet, load_prompts
from triathlon_runner.records import LoopRecord, LoopStep, Outcome, Reply, Usage
from triathlon_runner.sandbox import Language
from triathlon_runner.translation import _languages
from triathlon_runner.translation._task import CoreTask, MbxpTask, core_tasks, mbxp_tasks

SAMPLING: Final = Sampling(max_tokens=1024)
"""As for either step of the loop (EVALOOOP, section 3.6)."""
BASE_STOP: Final = (_languages.END_OF_EXAMPLE,)
TranslationTask = CoreTask | MbxpTask


def sampling_for(kind: ModelKind) -> Sampling:
    """How a model of this kind is asked."""
    return replace(SAMPLING, stop=BASE_STOP) if kind == "base" else SAMPLING


async def program_in(
    reply: Reply, kind: ModelKind, target: Language, task: TranslationTask
) -> tuple[str, Outcome | None]:
    """What is to be executed, or the outcome that says why there is nothing."""
    if kind == "base":
        return await in_other_process(len(reply.text), _languages.continued, reply, task.opening(target))
    return await in_other_process(len(reply.text), _languages.translated, reply, target, task.name(target))


@dataclass
class TranslationSuite:
    """Translates a correct Python program through the chain until a translation fails its tests."""

    id: str
    data: suites.DataSetInfo
    prompts: PromptSet
    given: Sequence[TranslationTask] | None = None
    """None: our own problems."""
    _tasks: dict[str, TranslationTask] = field(default_factory=dict)

    async def prepare(self, grader: Grader) -> None:
        """Makes the tasks; what a reference of ours returns is measured by executing it."""
        tasks = await core_tasks(grader.sandbox) if self.given is None else self.given
        self._tasks = {task.task_id: task for task in tasks}

    def tasks(self) -> Sequence[suites.Task]:
        return [suites.Task(task.task_id, task.level) for task in self._tasks.values()]

    @property
    def protocol(self) -> Mapping[str, Mapping[str, Any]]:
        """The chain is part of what it asks."""
        chain = [language.value for language in _languages.CHAIN]
        examples = (f"example-{language}" for language in sorted(set(chain)))
        prompts = self.prompts.digest("translate", "base-translate", *examples)
        return {
            "asked": suites.asked_settings(self.data, SAMPLING, prompts, chain=chain),
            "graded": suites.graded_settings(self.data),
        }

    def settings(self, kind: ModelKind, _judge: str | None = None) -> Mapping[str, Any]:
        return suites.request_settings(kind, sampling_for(kind))

    async def run(self, unit: suites.UnitRun) -> LoopRecord:
        """Runs one task through the chain, to the first failure."""
        begin = time.monotonic()
        task, model = self._tasks[unit.task_id], unit.model
        sampling = sampling_for(model.kind)
        code, usage, steps = task.start, Usage(), list[LoopStep]()
        for step, (source, target) in enumerate(pairwise(_languages.CHAIN), 1):
            question = loop.question(model.kind, self._question(model.kind, code, source, target, task), step)
            answer = await model.ask(question, sampling, sample=unit.sample)
            usage += answer.usage
            program, missing = await program_in(answer.reply, model.kind, target, task)
            verdict = None if missing else await task.grade(program, target, unit.grader.sandbox)
            outcome = verdict.outcome if verdict else missing or Outcome.NO_ANSWER
            steps.append(
                LoopStep(
                    loop=step,
                    prompt=code,
                    language=target.value,
                    reply=answer.reply,
                    program=program,
                    outcome=outcome,
                    verdict=verdict,
                )
            )
            if outcome is not Outcome.PASSED:
                break
            code = program
        sustained = sum(each.outcome is Outcome.PASSED for each in steps)
        return LoopRecord(
            **unit.record_fields(self.id),
            outcome=steps[-1].outcome,
            usage=usage,
            seconds=time.monotonic() - begin,
            max_loops=_languages.STEPS,
            sustained_loops=sustained,
            loops=tuple(steps),
            # There are no prompts to compare: s = 1 by definition.
            similarity=1.0 if 1 <= sustained < _languages.STEPS else None,
        )

    def _question(
        self, kind: ModelKind, code: str, source: Language, target: Language, task: TranslationTask
    ) -> str:
        """Asks for the program in the next language; a base model completes one worked example first."""
        values = {
            "source": _languages.TITLES[source],
            "target": _languages.TITLES[target],
            "source_label": source.value,
            "target_label": target.value,
            "code": code.strip("\n"),
            "opening": task.opening(target).rstrip("\n"),
        }
        if kind == "instruct":
            return self.prompts.render("translate", **values)
        for role, language in (("source", source), ("target", target)):
            values[f"example_in_{role}"] = self.prompts.render(f"example-{language.value}").strip("\n")
        return self.prompts.render("base-translate", **values) + "\n"


def metrics() -> tuple[Metric, ...]:
    """The loop's, with ASL as one number: similarities are 1 here (EVALOOOP, section 5)."""
    low, _high, *without_asl = loop.metrics(_languages.STEPS)
    asl = replace(low, id="asl", title="ASL", source="EVALOOOP, section 5", upper="", column="")
    return (asl, *without_asl)


def catalogue(prompts: Path | None = None) -> tuple[suites.SuiteEntry, ...]:
    """Returns both suites; nothing is read for this. `prompts` is `--prompts`."""

    def our_own(_store: DataStore) -> TranslationSuite:
        data = suites.DataSetInfo("core/seeds", core.VERSION, core.sha256("seeds"))
        return TranslationSuite("translation/core", data, load_prompts("translation", prompts))

    def mbxp(store: DataStore) -> TranslationSuite:
        data = suites.DataSetInfo.of(*official.MBXP.values(), name="mbxp")
        templates = load_prompts("translation", prompts)
        return TranslationSuite("translation/mbxp", data, templates, mbxp_tasks(store))

    return (
        _entry("core", "Translation loop on our own problems", our_own),
        _entry("mbxp", "Translation loop on MBXP", mbxp),
    )


def _entry(name: str, title: str, build: Callable[[DataStore], TranslationSuite]) -> suites.SuiteEntry:
    return suites.SuiteEntry(
        id=f"translation/{name}",
        title=title,
        discipline="translation",
        metrics=metrics(),
        record=LoopRecord,
        build=build,
        sampling=SAMPLING,
        base_stop=BASE_STOP,
        most_requests=_languages.STEPS,
        in_quick=False,
        core=name == "core",
        languages=tuple(target for target in _languages.TARGETS if target is not Language.PYTHON),
    )


DISCIPLINE: Final = suites.DisciplineEntry(
    "translation", catalogue, partial(load_prompts, "translation"), kind_of="loop"
)
