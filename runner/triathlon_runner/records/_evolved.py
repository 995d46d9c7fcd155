"""Records of the evolved discipline (spec: EvoEval)."""

from collections.abc import Iterator

from triathlon_runner.records._base import Reply, UnitRecord
from triathlon_runner.records._verdict import Verdict


class EvolvedRecord(UnitRecord):
    """One problem, one sample."""

    prompt: str
    """The question as it was asked, instruction included."""
    reply: Reply
    program: str
    """What was executed; empty where nothing could be taken out of the reply."""
    changes: tuple[str, ...] = ()
    """What extraction changed on the way from reply to program, in words."""
    verdict: Verdict | None
    """None where there was no program to execute."""
    parents: tuple[str, ...] = ()
    """task_ids of the problems that this one was evolved from, so that families show in the results."""

    def recorded_replies(self) -> Iterator[tuple[str, Reply]]:
        """Returns the one reply."""
        yield "", self.reply
