"""inspect_ai's `.eval` logs, written through its own API, which the extra `inspect` installs.

Imported only where somebody asks for these logs: inspect_ai takes six seconds.
"""

import io
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from inspect_ai import log as inspect_log
from inspect_ai.model import ChatMessageUser, ContentReasoning, ContentText, GenerateConfig, ModelOutput
from inspect_ai.scorer import Score

from triathlon_runner.records import Outcome, ProgramRecord
from triathlon_site.exchange._source import Source, uuid_of

_SCORER: Final = "triathlon"
_NEVER: Final = "1970-01-01T00:00:00+00:00"
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The first date that a zip can hold: no clock may change the file."""


def files(source: Source) -> Iterator[tuple[str, bytes]]:
    """One log: a sample for each reply, an epoch for each sample of a task."""
    records = list(source.programs())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.eval"
        inspect_log.write_eval_log(_log(source, records), path, format="eval")
        target = io.BytesIO()
        with ZipFile(path) as written, ZipFile(target, "w") as packed:  # without the time of writing
            for name in sorted(written.namelist()):
                packed.writestr(ZipInfo(name, _EARLIEST), written.read(name), ZIP_DEFLATED)
    yield f"{source.info.slug}/{source.entry.id.replace('/', '_')}_{source.time}.eval", target.getvalue()


def _log(source: Source, records: Sequence[ProgramRecord]) -> Any:
    samples = [_sample(source, record) for record in records]
    headline = next(metric for metric in source.entry.metrics if metric.headline)
    value = headline.score(records) if records else 0.0  # the mean over tasks, whatever their samples
    accuracy = inspect_log.EvalMetric(name="accuracy", value=value)
    score = inspect_log.EvalScore(
        name=_SCORER, scorer=_SCORER, scored_samples=len(records), metrics={"accuracy": accuracy}
    )
    manifest = source.manifest
    return inspect_log.EvalLog(
        status="success",
        eval=_spec(source, records),
        results=inspect_log.EvalResults(
            total_samples=len(records) + source.file.open_units,
            completed_samples=len(records),
            scores=[score],
        ),
        stats=inspect_log.EvalStats(
            started_at=manifest.started or _NEVER, completed_at=manifest.ended or _NEVER
        ),
        samples=samples,
    )


def _spec(source: Source, records: Sequence[ProgramRecord]) -> Any:
    """What was evaluated, with ids made of its names: inspect_ai would draw new ones each time."""
    manifest, tasks = source.manifest, list(dict.fromkeys(record.task_id for record in records))
    return inspect_log.EvalSpec(
        eval_id=uuid_of(f"eval {source.id}"),
        run_id=uuid_of(f"run {source.id}"),
        task_id=uuid_of(f"task {source.id}"),
        created=manifest.started or manifest.ended or _NEVER,
        task=source.entry.id,
        dataset=inspect_log.EvalDataset(
            name=f"{manifest.data.name} {manifest.data.version}", samples=len(tasks), sample_ids=tasks
        ),
        model=source.repository,
        model_generate_config=GenerateConfig(**source.manifest.sampling),
        config=inspect_log.EvalConfig(epochs=max((record.sample + 1 for record in records), default=1)),
        packages={"triathlon-leaderboard": manifest.runner_version or "unknown"},
        metadata={"protocol": str(manifest.protocol), "data_sha256": manifest.data.sha256},
    )


def _sample(source: Source, record: ProgramRecord) -> Any:
    name = f"{source.entry.id}/{source.repository}/{record.task_id}#{record.sample}"
    output = ModelOutput.from_content(source.repository, _content(record))
    output.choices[0].message.id = uuid_of(f"reply {name}")
    passed = record.outcome is Outcome.PASSED
    return inspect_log.EvalSample(
        id=record.task_id,
        epoch=record.sample + 1,
        input=record.prompt,
        target="",
        messages=[
            ChatMessageUser(id=uuid_of(f"prompt {name}"), content=record.prompt),
            output.choices[0].message,
        ],
        output=output,
        scores={
            _SCORER: Score(value="C" if passed else "I", answer=record.program, explanation=record.outcome)
        },
        uuid=uuid_of(name),
    )


def _content(record: ProgramRecord) -> Any:
    """The reply's text, behind its reasoning where it has one."""
    if not record.reply.reasoning:
        return record.reply.text
    return [ContentReasoning(reasoning=record.reply.reasoning), ContentText(text=record.reply.text)]
