"""What the facts of models rest on."""

from pathlib import Path

from triathlon_site.published import (
    ModelFacts,
    fact_sources,
    join_models,
    published_boards,
    read_published,
)

FOLDER = Path(__file__).parents[3] / "results" / "published"


def test_only_what_a_table_says_counts_as_confirmed() -> None:
    """Of four models: an address, an organisation and a size that tables have, and others that they lack."""
    published = read_published(FOLDER)
    assert published is not None
    link = "https://huggingface.co/Artigenz/Artigenz-Coder-DS-6.7B"
    facts = {
        "Artigenz-Coder-DS-6.7B": ModelFacts("Artigenz-Coder-DS-6.7B", parameters_b="6.7", card=f"{link}/"),
        "Claude Opus 4": ModelFacts("Claude Opus 4", "Anthropic", "undisclosed", price_in="1", price_out="2"),
        "GPT-5": ModelFacts("GPT-5", "Somebody", "12", card="https://example.org"),
        "unheard-of": ModelFacts("unheard-of", "Nobody", "7"),
    }
    found = fact_sources(facts, join_models(published, published_boards(published)))
    assert (found.models, found.cards, found.linked, found.organizations) == (4, 2, 1, 1)
    assert (found.sizes, found.same_sizes, found.prices) == (3, 1, 1)
    assert found.without == ("Claude Opus 4", "unheard-of")
