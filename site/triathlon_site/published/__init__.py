"""What others published: read from `results/published/`, part of no tier and no paired test."""

from triathlon_site.published._csv_file import read_table
from triathlon_site.published._facts import UNDISCLOSED, FactSources, ModelFacts, count_facts, read_facts
from triathlon_site.published._models import JoinedModel, join_models
from triathlon_site.published._read import DoubtfulAlias, Published, read_published
from triathlon_site.published._same import ONLY_PUBLISHED, SAME, Places
from triathlon_site.published._tables import PublishedBoard, is_model, published_boards, sustained

__all__ = [
    "ONLY_PUBLISHED",
    "SAME",
    "UNDISCLOSED",
    "DoubtfulAlias",
    "FactSources",
    "JoinedModel",
    "ModelFacts",
    "Places",
    "Published",
    "PublishedBoard",
    "count_facts",
    "is_model",
    "join_models",
    "published_boards",
    "read_facts",
    "read_published",
    "read_table",
    "sustained",
]
