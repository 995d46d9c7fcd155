"""What pages show of a model: what models.yaml says; of recorded models, what models-info.csv says."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Final

from triathlon_runner import unit_pages
from triathlon_runner.models_yaml import ModelRow, Registry
from triathlon_runner.records import RECORDED
from triathlon_site.published import UNDISCLOSED, ModelFacts, read_facts, read_table
from triathlon_site.render import formats

NAMES: Final = "names.csv"
"""Columns id, name: what recorded models are called. A model that is not in it is called by its id."""
_UNSEEN: Final = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\ufffe\\uffff]")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model's card. Fields are None where nothing is known."""

    id: str
    name: str
    organization: str | None = None
    parameters: str | None = None
    license: str | None = None
    open_weights: bool | None = None
    released: str | None = None
    kind: str | None = None
    link: str | None = None
    notes: str | None = None
    price: tuple[float, float] | None = None
    """USD per million tokens, in and out."""
    group: str | None = None
    """Rows with the same one are one model with different effort or token budgets."""

    @property
    def slug(self) -> str:
        """Its name in addresses."""
        return unit_pages.model_slug(self.id)

    @property
    def page(self) -> str:
        return f"models/{self.slug}.html"

    @property
    def units_page(self) -> str:
        """The page of every unit of the model."""
        return unit_pages.units_page(self.id)

    @property
    def billions(self) -> float | None:
        """The size as a number to sort by; experts (8x22B) multiplied out."""
        return formats.billions(self.parameters or "")

    @property
    def safe_link(self) -> str | None:
        """The link if it is a web address; a `javascript:` link is left out."""
        return self.link if self.link and self.link.startswith(("https://", "http://")) else None


Models = Mapping[str, ModelInfo]
"""By id."""


def model_infos(
    registry: Registry | None, models: Iterable[str], others: Mapping[str, ModelInfo] | None = None
) -> Mapping[str, ModelInfo]:
    """A `ModelInfo` for each registered model and for each model that only has results.

    Args:
        registry: what models.yaml says.
        models: ids of the models that have results.
        others: what else is known of models that models.yaml does not list, by id.
    """
    models, others = set(models), others or {}
    known = {model: others[model] for model in models if model in others}
    known |= {row.id: _info(row) for row in registry.models} if registry else {}
    return known | {model: ModelInfo(model, printable(model)) for model in models if model not in known}


def recorded_infos(results: Path) -> Mapping[str, ModelInfo]:
    """The cards of the recorded models that have a name, by id; their facts are those of `models-info.csv`.

    Args:
        results: the folder of results.

    Raises:
        UserError: one of the files cannot be read, lacks a column, or says something that cannot be.
    """
    path = results / RECORDED / NAMES
    names = read_table(path, ("id", "name")) if path.exists() else ()
    facts = read_facts(results / "published") if names else {}
    return {
        row["id"]: _recorded_info(row["id"], facts.get(row["name"]) or ModelFacts(row["name"]))
        for row in names
    }


def reported_info(facts: ModelFacts) -> ModelInfo:
    """The card of a model of which nothing was measured or recorded."""
    return ModelInfo(
        id=facts.model,
        name=printable(facts.model),
        organization=facts.organization or None,
        parameters=facts.size or None,
        license=facts.licence or None,
        open_weights={"yes": True, "no": False}.get(facts.open_weights),
        released=facts.released or None,
        price=facts.price,
    )


def printable(name: str) -> str:
    """Without control characters: no reader sees them, and XML, the feed's language, forbids most."""
    return _UNSEEN.sub("\ufffd", name)


def _info(row: ModelRow) -> ModelInfo:
    facts = {field.name: getattr(row, field.name) for field in fields(ModelInfo)}
    price = (row.price.input, row.price.output) if row.price else None
    return ModelInfo(**facts | {"name": printable(row.name), "price": price})


def _recorded_info(model: str, facts: ModelFacts) -> ModelInfo:
    size = facts.parameters_b
    parameters = (size if size == UNDISCLOSED else f"{size}B") if size else None
    return replace(reported_info(facts), id=model, parameters=parameters, link=facts.card or None)
