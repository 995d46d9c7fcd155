"""The committed recordings have names, and every fact of a model names where it was read."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from support.case_files import rows
from support.results import FakeModel
from support.site import PUBLISHED, published_boards, results_on
from triathlon_runner import models_yaml
from triathlon_runner.errors import UserError
from triathlon_runner.records import MEASURED_HERE
from triathlon_runner.store import recorded_files
from triathlon_site.build import Options, build, gather
from triathlon_site.models import (
    FACT_COLUMNS,
    ModelInfo,
    model_infos,
    newest_fact,
    read_facts,
    read_table,
    recorded_infos,
)
from triathlon_site.published import Published, join_models

NUMBER, MONTH, ADDRESS = r"\d+(\.\d+)?", r"\d{4}-(0[1-9]|1[0-2])", r"https://\S+"
DAY = rf"{MONTH}-(0[1-9]|[12]\d|3[01])"
FORMS = {
    **{"model": ".+", "parameters_b": f"undisclosed|{NUMBER}", "active_b": NUMBER, "open_weights": "yes|no"},
    **{"released": MONTH, "context": r"\d+", "availability": "in use|announced|retired"},
    **{"availability_date": f"{MONTH}|{DAY}", "availability_read": DAY, "price_host": ".+", "card": ADDRESS},
}
"""By column, what a cell with something in it must be."""
PRICE = {"price_in": NUMBER, "price_out": NUMBER, "price_date": MONTH, "price_link": ADDRESS}
"""As a list price changes, it says when it was read, and where."""
FACTS = (*FACT_COLUMNS[1:9], "price")


def test_every_committed_fact_is_one_and_has_a_source() -> None:
    """Each cell has its form, each fact one listed source, each source its fact, each model one row."""
    rows = read_table(PUBLISHED / "models-info.csv", ())
    listed = read_table(PUBLISHED / "fact_sources.csv", ("source", "read", "address"))
    for row in rows:
        assert tuple(row) == FACT_COLUMNS
        priced = any(row[name] for name in PRICE)
        for name, form in (FORMS | PRICE).items():
            optional = not priced if name in PRICE else name != "model"
            assert re.fullmatch(form, row[name]) or (optional and not row[name]), (row["model"], name)
        known = [fact for fact in FACTS if (priced if fact == "price" else row[fact])]
        pairs = [pair.split("=", 1) for pair in row["sources"].split()]
        assert [fact for fact, _ in pairs] == known, row["model"]
        assert {source for _, source in pairs} <= {source["source"] for source in listed}, row["model"]
    assert all(re.fullmatch(ADDRESS, source["address"] or "https://name") for source in listed)
    for names in ([row["model"] for row in rows], [source["source"] for source in listed]):
        assert max(Counter(names).values()) == 1


def test_the_committed_facts_are_nearly_complete() -> None:
    """Of 85 in 100 models; beside each price of a closed one stands until when it is served."""
    facts = read_facts(PUBLISHED)
    needed = ("organization", "parameters", "open_weights", "released")
    complete = [info for info in facts.values() if None not in [getattr(info, name) for name in needed]]
    assert len(facts) > len(complete) >= 0.85 * len(facts)
    closed = [info for info in facts.values() if info.price and not info.open_weights]
    assert [info.name for info in closed if info.availability is None] == []
    gone = [info.name for info in closed if not info.on_day("2026-11-26").usable]
    assert len(gone) >= 25 and "Claude Opus 4" in gone and "Claude Haiku 4.5" not in gone
    gemma = facts["gemma-3n-E4B-it"]
    assert (gemma.memory, gemma.active_billions, facts["GPT-5"].memory) == ((16, 4), 4, None)


def test_an_unreadable_file_of_facts_is_refused(tmp_path: Path) -> None:
    """The message names the file, and the column or the model with what stands there."""
    text = (PUBLISHED / "models-info.csv").read_text("utf-8")
    for old, new, message in map(dict.values, rows(Path(__file__).with_name("broken_facts.csv"))):
        (tmp_path / "models-info.csv").write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(UserError, match=rf"models-info\.csv: {message}"):
            read_facts(tmp_path)


def test_a_model_is_usable_until_its_day_comes(tmp_path: Path) -> None:
    """That of --as-of, else the newest one in the facts, so that the same files give the same site."""
    row = read_facts(PUBLISHED)["GPT-5"]
    assert (row.on_day("2026-12-10").usable, row.on_day("2026-12-10").status) == (True, "until 2026-12-11")
    assert (row.on_day("2026-12-11").usable, row.on_day("2026-12-11").status) == (False, "retired 2026-12-11")
    opened = read_facts(PUBLISHED)["Qwen2.5-Coder-7B-Instruct"].on_day("2030-01-01")
    assert (opened.usable, opened.status) == (True, "open weights")
    assert ModelInfo("x", "x").on_day("2026-01-01").usable is None
    shutil.copytree(PUBLISHED, tmp_path / "published")
    site = gather(tmp_path, None)
    assert site.as_of == "2026-11-26" and site.published and site.published.facts["GPT-5"].usable
    later = gather(tmp_path, None, as_of="2027-02-01").published
    assert later and not later.facts["GPT-5"].usable
    path = tmp_path / "published/models-info.csv"  # days are compared as texts, so all are written alike
    text = path.read_text("utf-8").replace("2026-12-11,2026-11-26", "20261211,2026-W48-4")
    path.write_text(text.replace(",2026-05,", ",20260501,"), "utf-8")
    facts = read_facts(path.parent)
    assert facts["GPT-5"].availability == row.availability and newest_fact(facts.values()) == "2026-11-26"
    build(tmp_path, tmp_path / "_site", None, Options(as_of="20270201"))
    assert "2027-02-01" in (tmp_path / "_site/index.html").read_text("utf-8")
    with pytest.raises(UserError, match="expected a day for --as-of, such as '2026-11-26', got 'today'"):
        build(tmp_path, tmp_path / "_site", None, Options(as_of="today"))


def test_a_row_says_that_its_model_is_retired(tmp_path: Path) -> None:
    """`retired` of models.yaml counts before facts that are older, and the other facts of the row stay."""
    shutil.copytree(PUBLISHED, tmp_path / "published")
    results_on(tmp_path, [FakeModel("x")], "loop/core", tasks=1)
    row = models_yaml.row_without_server("x", "instruct")
    for retired, status in ((None, "until 2026-12-11"), ("2026-11-01", "retired 2026-11-01")):
        listed = row.model_copy(update={"name": "GPT-5", "retired": retired})
        models = gather(tmp_path, models_yaml.Registry(models=(listed,))).models
        assert models["x"].status == status


def test_every_recorded_model_has_a_name(published: Published) -> None:
    """One of its own, of the published tables, and its facts. Closed models of models.yaml tell a size."""
    registry, named = models_yaml.load(PUBLISHED.parents[1] / "models.yaml"), recorded_infos(PUBLISHED.parent)
    ids = {file.model for file in recorded_files(PUBLISHED.parent) if file.source != MEASURED_HERE}
    assert len(ids) >= 80 and ids <= named.keys()
    infos = model_infos(registry, ids, named)
    joined = {model.name for model in join_models(published, published_boards(published))}
    for model in ids:
        assert infos[model].name == named[model].name and infos[model].name in joined
    assert max(Counter(one.name for one in named.values()).values()) == 1
    info = named["baichuan-m2-32b"]
    assert (info.organization, info.parameters, info.billions) == ("Baichuan", "32B", 32)
    assert (info.license, info.open_weights, info.released) == ("apache-2.0", True, "2025-08")
    one = registry.models[0]
    again = model_infos(registry, [one.id], {one.id: ModelInfo(one.id, "Reviewed", organization="Nobody")})
    assert again[one.id].name == "Reviewed" and again[one.id].organization != "Nobody"
    assert [row.id for row in registry.models if row.open_weights is False and not row.parameters] == []
