"""Work that a manifest describes, with a model and a judge that answer from a record."""

from collections import defaultdict, deque

from triathlon_runner.errors import InfrastructureError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, Chat, Completion, ModelKind, ModelUnavailableError, Sampling
from triathlon_runner.models_yaml import row_without_server
from triathlon_runner.records import Manifest, Reply, UnitRecord, Usage, asks_base_model, sampling_of
from triathlon_runner.schedule import BuiltSuite, Work, all_settings, at_temperature
from triathlon_runner.suites import UnitRun


class NotInEvidenceError(InfrastructureError):
    """The suite asks a question to which the record holds no reply."""


class ReplayModel:
    """Answers one unit's questions with the replies that its record holds."""

    def __init__(self, record: UnitRecord, kind: ModelKind) -> None:
        self.id = record.model
        self.kind = kind
        self._question_in = record.question_in
        self._replies: dict[str, deque[Reply]] = defaultdict(deque)
        for question in record.questions():
            self._replies[question.key].append(question.reply)

    async def ask(
        self,
        prompt: Chat | Completion,
        sampling: Sampling,  # noqa: ARG002
        *,
        sample: int = 0,  # noqa: ARG002
    ) -> Answer:
        """Returns the stored reply to this question.

        Raises:
            NotInEvidenceError: the record holds none.
        """
        text = prompt.text if isinstance(prompt, Completion) else prompt.messages[-1].content
        replies = self._replies[self._question_in(text)]
        if not replies:
            raise NotInEvidenceError(f"no reply is stored to the question {text[-200:]!r}")
        return _answer(replies.popleft(), self.id)


class ReplayJudge:
    """Answers as the LLM judge of one record, with the replies that the record holds."""

    def __init__(self, model_id: str, record: UnitRecord | None = None) -> None:
        """Makes the judge of a record; without one it stands for the judge of a whole file."""
        self.id = model_id
        self.kind: ModelKind = "instruct"
        self._record = record

    async def ask(
        self,
        prompt: Chat | Completion,  # noqa: ARG002  as `Model` has it, here and in the other
        sampling: Sampling,  # noqa: ARG002
        *,
        sample: int = 0,
    ) -> Answer:
        """Returns the stored reply to this attempt.

        Raises:
            ModelUnavailableError: there is none, and the record says that the judge gave nothing.
            NotInEvidenceError: there is none, but the record has a similarity.
        """
        replies = self._record.recorded_judge_replies() if self._record is not None else ()
        if sample < len(replies):
            return _answer(replies[sample], self.id)
        if self._record is not None and self._record.judge_gave_nothing:
            raise ModelUnavailableError("the judge could not be asked then")
        raise NotInEvidenceError(f"the judge was asked {len(replies)} times, not {sample + 1}")


async def replayed(record: UnitRecord, work: Work, grader: Grader) -> UnitRecord:
    """Returns the record that a record's own replies lead to now.

    Raises:
        NotInEvidenceError: graded now, the unit needs a reply that was not asked for.
        SandboxError: our machinery failed.
    """
    model = ReplayModel(record, work.row.kind)
    judge = ReplayJudge(work.judge.id, record) if work.judge is not None else None
    suite = work.built.suite
    return await suite.run(UnitRun(record.task_id, record.sample, model, grader, work.protocol, judge))


def work_of(model: str, built: BuiltSuite, manifest: Manifest | None) -> Work:
    """Returns the work that a manifest describes; without one, that of an instruct model.

    Reads no models.yaml, as its rows may have been removed. An import's settings are its log's checksum.
    """
    if manifest is None:
        return Work(row_without_server(model, "instruct"), built, all_settings(built.suite, "instruct"))
    if manifest.origin is not None:
        kind: ModelKind = "base" if manifest.identity.get("kind") == "base" else "instruct"
        hashes = manifest.protocol.model_dump()
        return Work(row_without_server(model, kind), built, {**manifest.settings, **hashes})
    kind, judge = "base" if asks_base_model(manifest.settings) else "instruct", manifest.judge
    settings, temperature = (
        all_settings(built.suite, kind, judge),
        sampling_of(manifest.settings).get("temperature"),
    )
    if temperature is not None:
        settings = at_temperature(settings, temperature)
    return Work(row_without_server(model, kind), built, settings, ReplayJudge(judge) if judge else None)


def _answer(reply: Reply, model: str) -> Answer:
    return Answer(reply, Usage(), 0.0, model)
