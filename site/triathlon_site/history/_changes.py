"""What changed between two builds, and why."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from triathlon_runner.records import Strict
from triathlon_site.history._snapshot import Place, Snapshot

Kind = Literal["new model", "gone model", "new results", "changed protocol", "moved"]
OWN: Final = "its own results changed"
OTHERS: Final = "others came, went or changed"
NAMED_MODELS: Final = 6
"""Models that an event names; more are counted."""


class Event(Strict):
    """One thing that happened to one model."""

    kind: Kind
    model: str
    board: str = ""
    """The board on which it moved."""
    before: int = 0
    after: int = 0
    suites: tuple[str, ...] = ()
    """What is new or was asked under another protocol."""
    why: str = ""
    passed_by: tuple[str, ...] = ()
    """Models that stand above it now and did not before, for one that fell: `NAMED_MODELS` at most."""
    passed_by_more: int = 0
    """Number of such models that `passed_by` leaves out."""

    @property
    def by_others(self) -> bool:
        """Whether the model moved although its own results did not change."""
        return self.kind == "moved" and self.why != OWN


class Change(Strict):
    """All changes that one build found."""

    id: str
    """A URN that stays the same when the change is shortened: readers of the feed know it by this."""
    date: str
    """Day of the newest result."""
    version: str
    events: tuple[Event, ...]
    dropped: int = 0
    """Number of moves caused by other models, which are no longer listed."""

    def shortened(self) -> "Change":
        """Without the moves by others, which one new model causes on every board: they are counted."""
        events = tuple(event for event in self.events if not event.by_others)
        dropped = self.dropped + len(self.events) - len(events)
        return self.model_copy(update={"events": events, "dropped": dropped})


def changes_between(before: Snapshot, after: Snapshot) -> tuple[Event, ...]:
    """Models first, then results and protocols, then places; each in the order of names."""
    return (*_models(before, after), *_results(before, after), *_moves(before, after))


def _models(before: Snapshot, after: Snapshot) -> Iterator[Event]:
    for model in sorted(after.suites.keys() - before.suites.keys()):
        yield Event(kind="new model", model=model, suites=tuple(sorted(after.suites[model])))
    for model in sorted(before.suites.keys() - after.suites.keys()):
        yield Event(kind="gone model", model=model)


def _results(before: Snapshot, after: Snapshot) -> Iterator[Event]:
    for model in sorted(after.suites.keys() & before.suites.keys()):
        old, new = before.suites[model], after.suites[model]
        asked_anew = tuple(
            suite for suite in sorted(new) if suite in old and new[suite].protocol != old[suite].protocol
        )
        added = tuple(
            suite
            for suite in sorted(new)
            if suite not in asked_anew and (suite not in old or new[suite].sha256 != old[suite].sha256)
        )
        if asked_anew:
            yield Event(kind="changed protocol", model=model, suites=asked_anew)
        if added:
            yield Event(kind="new results", model=model, suites=added)


def _moves(before: Snapshot, after: Snapshot) -> Iterator[Event]:
    """Rank changes of models ranked in both builds; `why` tells whether the model's own results changed."""
    changed = _changed(before, after)
    for board in sorted(after.places.keys() & before.places.keys()):
        old, new = before.places[board], after.places[board]
        for model in sorted(new.keys() & old.keys(), key=lambda model: (new[model].rank, model)):
            if new[model].rank != old[model].rank:
                passed_by = tuple(_passed_by(model, old, new))
                yield Event(
                    kind="moved",
                    model=model,
                    board=board,
                    before=old[model].rank,
                    after=new[model].rank,
                    why=OWN if board.partition("-")[0] in changed.get(model, ()) else OTHERS,
                    passed_by=passed_by[:NAMED_MODELS],
                    passed_by_more=max(0, len(passed_by) - NAMED_MODELS),
                )


def _changed(before: Snapshot, after: Snapshot) -> dict[str, set[str]]:
    """By model, the disciplines in which its results changed; a variant's results do not change its rank."""
    changed: dict[str, set[str]] = {}
    for event in _results(before, after):
        plain = [suite for suite in event.suites if "@" not in suite]
        if plain:
            changed.setdefault(event.model, {"overall"}).update(suite.partition("/")[0] for suite in plain)
    return changed


def _passed_by(model: str, old: Mapping[str, Place], new: Mapping[str, Place]) -> Iterator[str]:
    """Models that overtook this one, in the new order; none where it did not fall."""
    if new[model].rank <= old[model].rank:
        return
    for rival in sorted(new, key=lambda rival: (new[rival].rank, rival)):
        behind = rival not in old or old[rival].rank >= old[model].rank
        if rival != model and behind and new[rival].rank < new[model].rank:
            yield rival
