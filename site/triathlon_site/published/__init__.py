"""What others published: read from `results/published/`, part of no tier and no paired test."""

from triathlon_site.published._columns import PublishedColumn, number_in
from triathlon_site.published._facts import FactCounts
from triathlon_site.published._models import JoinedModel, join_models
from triathlon_site.published._read import Published, Snapshot, read_published
from triathlon_site.published._same import ONLY_PUBLISHED, SAME, Places
from triathlon_site.published._spread import Spread, spread, sustained
from triathlon_site.published._tables import (
    PublishedRow,
    PublishedScore,
    PublishedTable,
    published_boards,
    published_tables,
)

__all__ = [
    "ONLY_PUBLISHED",
    "SAME",
    "FactCounts",
    "JoinedModel",
    "Places",
    "Published",
    "PublishedColumn",
    "PublishedRow",
    "PublishedScore",
    "PublishedTable",
    "Snapshot",
    "Spread",
    "join_models",
    "number_in",
    "published_boards",
    "published_tables",
    "read_published",
    "spread",
    "sustained",
]
