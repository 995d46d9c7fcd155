"""The metrics of the loop, each a ratio of sums over tasks (EVALOOOP, section 2.2)."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from triathlon_runner.metrics import Contribution, Metric
from triathlon_runner.records import LoopRecord, RecordedLoop, UnitRecord

_ASL = "EVALOOOP, equations 1 to 5"


def mean_similarity(record: LoopRecord | RecordedLoop, unknown: float) -> float:
    """s̄ of one task that sustained at least one loop (equation 4).

    Args:
        record: The task.
        unknown: What stands for a similarity that no judge gave: 0 and 1 span the interval.
    """
    sustained = record.sustained_loops
    if sustained == record.max_loops:
        return 1.0
    last = unknown if record.similarity is None else record.similarity
    return (sustained - 1 + last) / sustained


def task_share(record: LoopRecord | RecordedLoop, unknown: float) -> float:
    """What one task adds to ASL · T: l² · s̄ / M. Over tasks with l = i they sum to n_i · i² · s_i / M."""
    sustained = record.sustained_loops
    return sustained**2 * mean_similarity(record, unknown) / record.max_loops if sustained else 0.0


def asl_of_counts(
    counts: Mapping[int, int] | Sequence[int], max_loops: int, similarities: Mapping[int, float] | None = None
) -> float:
    """Equation 1 from n_0 … n_M, such as a published leaderboard gives them.

    Args:
        counts: Tasks that sustained exactly i loops, by i.
        max_loops: M.
        similarities: s_i; 1 where not given.
    """
    by_loops = dict(counts) if isinstance(counts, Mapping) else dict(enumerate(counts))
    known = similarities or {}
    total = sum(n * i**2 * known.get(i, 1.0) for i, n in by_loops.items())
    return total / (max_loops * sum(by_loops.values()))


def metrics(max_loops: int) -> tuple[Metric, ...]:
    """The columns of a loop suite. Where M is 1 (an attack on the first prompt) only pass@1 is defined."""
    if max_loops == 1:
        return (pass_at_1(),)
    return (
        Metric(
            "asl_low",
            "ASL (lower end)",
            _ASL,
            _share(0.0),
            maximum=max_loops,
            role="headline",
            upper="asl_high",
            column="ASL",
        ),
        Metric("asl_high", "ASL (upper end)", _ASL, _share(1.0), maximum=max_loops, role="upper_end"),
        pass_at_1(),
        Metric(  # unranked: a model that solves nothing loses nothing
            "drop", f"Drop, loop 1 to {max_loops}", "EVALOOOP, section 4", _drop(max_loops), role="unranked"
        ),
        *(_curve_point(j) for j in range(2, max_loops + 1)),
    )


def pass_at_1() -> Metric:
    """Share of tasks whose first program passes: the first point of the degradation curve."""
    return Metric("pass_at_1", "pass@1", "EVALOOOP, table 1", _at_least(1), role="baseline")


def _curve_point(loop: int) -> Metric:
    title = f"Share of tasks that sustain {loop} loops"
    return Metric(f"sustain_{loop}", title, "EVALOOOP, section 4", _at_least(loop), role="curve")


def _share(unknown: float) -> Callable[[Sequence[UnitRecord]], list[Contribution]]:
    return lambda records: [Contribution(r.task_id, task_share(r, unknown), 1) for r in _loops(records)]


def _at_least(loop: int) -> Callable[[Sequence[UnitRecord]], list[Contribution]]:
    return lambda records: [Contribution(r.task_id, r.sustained_loops >= loop, 1) for r in _loops(records)]


def _drop(max_loops: int) -> Callable[[Sequence[UnitRecord]], list[Contribution]]:
    return lambda records: [
        Contribution(r.task_id, 1 <= r.sustained_loops < max_loops, 1) for r in _loops(records)
    ]


def _loops(records: Sequence[UnitRecord]) -> Iterator[LoopRecord | RecordedLoop]:
    """Checks that all records are the loop's and returns them.

    Raises:
        TypeError: another discipline's record.
    """
    for record in records:
        if not isinstance(record, LoopRecord | RecordedLoop):
            raise TypeError(f"a loop metric got a {type(record).__name__} of suite {record.suite!r}")
        yield record
