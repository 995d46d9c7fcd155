"""Work that a manifest describes, with a model and a judge that answer from a record."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

from triathlon_runner import records
from triathlon_runner.errors import InfrastructureError
from triathlon_runner.grading import Grader
from triathlon_runner.llm import Answer, Chat, Completion, ModelKind, ModelUnavailableError, Sampling
from triathlon_runner.models_yaml import row_without_server
from triathlon_runner.schedule import BuiltSuite, Work, all_settings, at_temperature
from triathlon_runner.suites import UnitRun


class NotInEvidenceError(InfrastructureError):
    """The suite asks a question to which the record holds no reply."""


class Replay:
    """A model, or the LLM judge, that answers with stored replies: those to one key in their order."""

    def __init__(
        self,
        model_id: str,
        kind: ModelKind,
        replies: Iterable[tuple[str, records.Reply]] = (),
        key_of: Callable[[str], str] = lambda _prompt: "",
        *,
        gave_nothing: bool = False,
    ) -> None:
        """`gave_nothing`: where no reply is left, it could not be asked, instead of being asked too much."""
        self.id, self.kind = model_id, kind
        self._key_of, self._gave_nothing = key_of, gave_nothing
        self._replies: dict[str, deque[records.Reply]] = defaultdict(deque)
        for key, reply in replies:
            self._replies[key].append(reply)

    async def ask(
        self,
        prompt: Chat | Completion,
        sampling: Sampling,  # noqa: ARG002
        *,
        sample: int = 0,  # noqa: ARG002
    ) -> Answer:
        """Returns the next stored reply to this question.

        Raises:
            ModelUnavailableError: there is none, and the record says that the judge gave nothing.
            NotInEvidenceError: there is none, but the record has what follows from one.
        """
        text = prompt.text if isinstance(prompt, Completion) else prompt.messages[-1].content
        if replies := self._replies[self._key_of(text)]:
            return Answer(replies.popleft(), records.Usage(), 0.0, self.id)
        if self._gave_nothing:
            raise ModelUnavailableError("the judge could not be asked then")
        raise NotInEvidenceError(f"no reply is stored to the question {text[-200:]!r}")


async def replayed(record: records.UnitRecord, work: Work, grader: Grader) -> records.UnitRecord:
    """Returns the record that a record's own replies lead to now.

    Raises:
        NotInEvidenceError: graded now, the unit needs a reply that was not asked for.
        SandboxError: our machinery failed.
    """
    replies = ((question.key, question.reply) for question in record.questions())
    model = Replay(record.model, work.row.kind, replies, record.question_in)
    judge = None
    if work.judge is not None and isinstance(record, records.LoopRecord):
        replies = (("", reply) for reply in record.judge_replies)
        judge = Replay(work.judge.id, "instruct", replies, gave_nothing=record.similarity is None)
    suite = work.built.suite
    return await suite.run(UnitRun(record.task_id, record.sample, model, grader, work.protocol, judge))


def work_of(
    model: str, built: BuiltSuite, manifest: records.Manifest | None, unknown_kind: ModelKind = "instruct"
) -> Work:
    """Returns the work that a manifest describes; without one, that of a model of `unknown_kind`.

    Reads no models.yaml, as its rows may have been removed. An import's settings are its log's checksum.
    """
    if manifest is None:
        return Work(row_without_server(model, unknown_kind), built, all_settings(built.suite, unknown_kind))
    if manifest.origin is not None:
        kind: ModelKind = "base" if manifest.identity.get("kind") == "base" else "instruct"
        hashes = {"asked": manifest.protocol.asked, "graded": built.suite.protocol["graded"]}
        return Work(row_without_server(model, kind), built, {**manifest.settings, **hashes})
    kind, judge = "base" if records.asks_base_model(manifest.settings) else "instruct", manifest.judge
    settings = all_settings(built.suite, kind, judge)
    temperature = records.sampling_of(manifest.settings).get("temperature")
    if temperature is not None:
        settings = at_temperature(settings, temperature)
    replay = Replay(judge, "instruct") if judge else None
    return Work(row_without_server(model, kind), built, settings, replay)
