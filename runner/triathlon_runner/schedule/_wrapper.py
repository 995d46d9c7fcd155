"""What models that stand before another model share."""

from triathlon_runner.endpoints import Model
from triathlon_runner.suites import ModelKind


class ModelWrapper:
    """Base of models that pass questions on to another one: has its id and kind. Subclasses add `ask`."""

    def __init__(self, inner: Model) -> None:
        """Wraps a model."""
        self._inner = inner

    @property
    def id(self) -> str:
        """Id of the row of models.yaml."""
        return self._inner.id

    @property
    def kind(self) -> ModelKind:
        """Instruct or base."""
        return self._inner.kind
