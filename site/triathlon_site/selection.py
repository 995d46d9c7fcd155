"""Which results `--models` and `--suites` choose."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from triathlon_runner.models_yaml import check_have_results


@dataclass(frozen=True)
class Wanted:
    """The models and suites that were named; None means all."""

    models: Sequence[str] | None = None
    suites: Sequence[str] | None = None
    known_models: Collection[str] = ()
    """Ids of models.yaml, with results or without."""
    known_suites: Collection[str] = ()
    """Ids of all suites, with results or without."""

    def check(self, models: Iterable[str], suites: Iterable[str]) -> None:
        """Compares what was named with the models and suites that have results.

        Raises:
            UserError: naming all that have none.
        """
        check_have_results(
            self.models or (), sorted(set(models)), what="model", is_known=self.known_models.__contains__
        )
        check_have_results(
            self.suites or (), sorted(set(suites)), what="suite", is_known=self.known_suites.__contains__
        )

    def includes(self, model: str, suites: Collection[str]) -> bool:
        """Whether a model's numbers on these suites are wanted: on all of them."""
        return (self.models is None or model in self.models) and (
            self.suites is None or set(suites) <= set(self.suites)
        )
