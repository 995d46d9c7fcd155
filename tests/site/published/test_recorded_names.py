"""The committed recordings: every model has a name, and what is known of it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from triathlon_runner import models_yaml
from triathlon_runner.records import MEASURED_HERE
from triathlon_runner.store import recorded_files
from triathlon_site.models import ModelInfo, model_infos, recorded_infos
from triathlon_site.published import Published, join_models, published_boards

CHECKOUT = Path(__file__).resolve().parents[3]
RESULTS = CHECKOUT / "results"


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, ModelInfo]:
    """Cards of the models that there are recordings of, as pages show them."""
    ids = {file.model for file in recorded_files(RESULTS) if file.source != MEASURED_HERE}
    assert len(ids) >= 80
    infos = model_infos(models_yaml.load(CHECKOUT / "models.yaml"), ids, recorded_infos(RESULTS))
    return {model: infos[model] for model in ids}


def test_every_recorded_model_has_a_name(recorded: Mapping[str, ModelInfo]) -> None:
    """names.csv says what it is called, and no two models are called the same."""
    named = recorded_infos(RESULTS)
    assert not sorted(set(recorded) - set(named))
    assert [name for name, count in Counter(one.name for one in named.values()).items() if count > 1] == []


def test_the_reviewed_name_counts(recorded: Mapping[str, ModelInfo]) -> None:
    """A model of models.yaml that has a row in names.csv is called as there; the rest is of models.yaml."""
    registry = models_yaml.load(CHECKOUT / "models.yaml")
    one = registry.models[0]
    infos = model_infos(registry, [one.id], {one.id: ModelInfo(one.id, "Reviewed", organization="Nobody")})
    assert infos[one.id].name == "Reviewed" and infos[one.id].organization != "Nobody"
    named = recorded_infos(RESULTS)
    assert {model: info.name for model, info in recorded.items()} == {
        model: named[model].name for model in recorded
    }


def test_every_recorded_model_is_one_of_the_published(
    recorded: Mapping[str, ModelInfo], published: Published
) -> None:
    """Its name is that of a model of the published tables, where its recording has a row in one."""
    joined = {model.name for model in join_models(published, published_boards(published))}
    names = {model: recorded_infos(RESULTS)[model].name for model in recorded}
    assert {model: name for model, name in names.items() if name not in joined} == {}


def test_what_is_known_of_recorded_models(recorded: Mapping[str, ModelInfo]) -> None:
    """At least 85 % have organisation, weights, size or that it is undisclosed, and month of release."""
    known = [
        one
        for one in recorded.values()
        if one.organization and one.open_weights is not None and one.parameters and one.released
    ]
    assert len(known) >= 0.85 * len(recorded)


def test_closed_models_of_the_registry_tell_a_size() -> None:
    """A size that its maker keeps to itself is `undisclosed`, as in the tables of facts."""
    rows = models_yaml.load(CHECKOUT / "models.yaml").models
    assert [row.id for row in rows if row.open_weights is False and not row.parameters] == []
