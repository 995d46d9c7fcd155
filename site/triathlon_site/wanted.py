"""Which results `--models` and `--suites` choose."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from triathlon_runner.registry import check_names


@dataclass(frozen=True)
class Wanted:
    """The models and suites that were named; None means all."""

    models: Sequence[str] | None = None
    suites: Sequence[str] | None = None

    def check(self, models: Iterable[str], suites: Iterable[str]) -> None:
        """Compares what was named with the models and suites that have results.

        Raises:
            UserError: naming all that have none.
        """
        command = "triathlon results list"
        check_names(self.models or (), sorted(set(models)), what="model", command=command)
        check_names(self.suites or (), sorted(set(suites)), what="suite", command=command)

    def includes(self, model: str, suites: Collection[str]) -> bool:
        """Whether a model's numbers on these suites are wanted: on all of them."""
        return (self.models is None or model in self.models) and (
            self.suites is None or set(suites) <= set(self.suites)
        )
