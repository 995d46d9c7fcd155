"""How much of which suites a run takes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from triathlon_runner.suites import SuiteEntry, Task


@dataclass(frozen=True, slots=True)
class Profile:
    """A named amount of work."""

    name: str
    about: str
    official: bool
    """Official data sets too, where their data is present."""
    tasks: Mapping[str, int] | None
    """Tasks of a suite at most, by suite or else by discipline; None: all."""
    repeats: bool
    """As many samples a task as the suite's paper takes; else one."""
    leaves_out: frozenset[str] = frozenset()
    """Suites that only a longer profile takes."""
    limit: int | None = None
    """The user's own number of tasks of each suite; goes before `tasks`."""
    own_samples: int | None = None
    """The user's own number of samples a task; goes before `repeats`."""
    own_temperature: float | None = None
    """The user's own temperature; only for suites whose protocol has one to set."""

    def with_own(
        self, *, limit: int | None = None, samples: int | None = None, temperature: float | None = None
    ) -> Self:
        """The profile with what the user set beside it."""
        return replace(self, limit=limit, own_samples=samples, own_temperature=temperature)

    def asked(self, entry: SuiteEntry) -> SuiteEntry | None:
        """The suite at the user's temperature; None where that is no setting of its protocol."""
        if self.own_temperature is None:
            return entry
        return None if entry.at_temperature is None else entry.at_temperature(self.own_temperature)

    def takes(self, entry: SuiteEntry) -> bool:
        if self._most(entry) == 0:
            return False
        return entry.id not in self.leaves_out and (entry.core or self.official)

    def samples(self, entry: SuiteEntry) -> int:
        return self.own_samples or (entry.default_samples if self.repeats else 1)

    def choose(self, entry: SuiteEntry, tasks: Sequence[Task]) -> tuple[Task, ...]:
        """The tasks to run, in the order of the suite."""
        most = self._most(entry) if self.limit is None else self.limit
        return tuple(tasks) if most is None else spread(tasks, most)

    def _most(self, entry: SuiteEntry) -> int | None:
        if self.tasks is None:
            return None
        return self.tasks.get(entry.id, self.tasks[entry.discipline])


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "quick",
            "a few tasks of each core suite, evenly over the levels",
            official=False,
            tasks={
                "loop": 5,
                "runtime": 3,
                "evolved": 2,
                "translation": 0,
                # The plain problems and their retellings are what a small model solves some of.
                "evolved/core-seeds": 6,
                "evolved/core-verbose": 3,
                "evolved/core-concise": 3,
            },
            repeats=False,
            leaves_out=frozenset(
                {
                    "evolved/core-tool_use-main_only",
                    "evolved/core-decompose",
                    "evolved/core-combine_naive",
                }
            ),
        ),
        Profile("standard", "all of core", official=False, tasks=None, repeats=False),
        Profile(
            "full",
            "core and official data, with the papers' repeats",
            official=True,
            tasks=None,
            repeats=True,
        ),
    )
}


def spread(tasks: Sequence[Task], most: int) -> tuple[Task, ...]:
    """At most so many tasks, evenly over levels and, within a level, over groups.

    Keeps the order of the suite. The choice is fixed: the same tasks give the same subset everywhere, and a
    smaller subset is part of a larger one, so that a later, longer run goes on from an earlier, shorter one.
    """
    by_level: dict[int, list[Task]] = defaultdict(list)
    for task in tasks:
        by_level[task.level or 0].append(task)
    levels = sorted(by_level)
    # Every second level first, so that even three tasks are easy, middling and hard.
    queues = [_alternate_groups(by_level[level]) for level in (*levels[::2], *levels[1::2])]
    chosen: set[str] = set()
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(chosen) < most:
                chosen.add(queue[turn].task_id)
    return tuple(task for task in tasks if task.task_id in chosen)


def _alternate_groups(tasks: Sequence[Task]) -> list[Task]:
    """One task of each group, then a second of each, and so on."""
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[task.group or task.task_id].append(task)
    turns = max(map(len, groups.values()), default=0)
    return [group[turn] for turn in range(turns) for group in groups.values() if turn < len(group)]
