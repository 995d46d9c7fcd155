"""The metrics of the loop, each a ratio of sums over tasks (EVALOOOP, section 2.2)."""

from collections.abc import Callable, Sequence
from functools import partial

from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.records import LoopRecord, UnitRecord

_ASL = "EVALOOOP, equations 1 to 5"
_CURVE = "EVALOOOP, section 4"


def task_share(record: LoopRecord, unknown: float) -> float:
    """What one task adds to ASL · T: l² · s̄ / M, where s̄ = (l - 1 + s) / l (equation 4).

    `unknown` stands for a similarity that no judge gave: 0 and 1 span the interval.
    """
    sustained, last = record.sustained_loops, 1.0
    if sustained < record.max_loops:
        last = unknown if record.similarity is None else record.similarity
    return sustained * (sustained - 1 + last) / record.max_loops


def _share_if_same(record: LoopRecord) -> float:
    """The same with s = 1, whatever a judge said: what published counts tell."""
    return record.sustained_loops**2 / record.max_loops


def asl_of_counts(counts: Sequence[int], max_loops: int) -> float:
    """Equation 1 with every s_i = 1, from n_0 … n_M, such as a published leaderboard gives them."""
    return sum(n * i**2 for i, n in enumerate(counts)) / (max_loops * sum(counts))


def metrics(max_loops: int) -> tuple[Metric, ...]:
    """The columns of a loop suite. Where M is 1 (an attack on the first prompt) only pass@1 is defined."""
    pass_at_1 = Metric("pass_at_1", "pass@1", "EVALOOOP, table 1", _mean(_sustains(1)), role="baseline")
    if max_loops == 1:
        return (pass_at_1,)
    low, high = (_mean(partial(task_share, unknown=end)) for end in (0.0, 1.0))
    same, solved = _mean(_share_if_same), _mean(_share_if_same, _sustains(1))
    lost = _mean(lambda record: 1 <= record.sustained_loops < max_loops)
    loops = _mean(lambda record: record.sustained_loops)
    on_solved = f"{_ASL}, over the tasks that sustain a loop"
    in_loops = partial(Metric, maximum=max_loops)
    return (
        in_loops("asl_low", "ASL (lower end)", _ASL, low, role="headline", upper="asl_high", column="ASL"),
        in_loops("asl_high", "ASL (upper end)", _ASL, high, role="upper_end"),
        pass_at_1,
        # Unranked: a model that solves nothing loses nothing.
        Metric("drop", f"Drop, loop 1 to {max_loops}", _CURVE, lost, role="unranked"),
        *(
            Metric(
                f"sustain_{j}",
                f"Share of tasks that sustain {j} loops",
                _CURVE,
                _mean(_sustains(j)),
                role="curve",
            )
            for j in range(2, max_loops + 1)
        ),
        in_loops("loops", "Loops sustained a task", "EVALOOOP, figure 3", loops, role="beside"),
        in_loops("asl_same", "ASL, s = 1", _ASL, same, role="beside"),
        in_loops("asl_solved", "ASL over solved tasks, s = 1", on_solved, solved, role="beside"),
    )


def _sustains(loops: int) -> Callable[[LoopRecord], bool]:
    return lambda record: record.sustained_loops >= loops


def _mean(
    value: Callable[[LoopRecord], float], counted: Callable[[LoopRecord], bool] = lambda _: True
) -> Callable[[Sequence[UnitRecord]], list[Contribution]]:
    """Contributions to the mean of a value of the counted records; a TypeError for another discipline's."""

    def contributions(records: Sequence[UnitRecord]) -> list[Contribution]:
        parts = []
        for record in records:
            if not isinstance(record, LoopRecord):
                raise TypeError(f"a loop metric got a {type(record).__name__} of suite {record.suite!r}")
            parts.append(Contribution(record.task_id, value(record), int(counted(record))))
        return parts

    return contributions
