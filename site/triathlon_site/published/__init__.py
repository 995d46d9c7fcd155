"""What others published: read from `results/published/`, part of no tier and no paired test."""

from triathlon_site.published._columns import ONLY_PUBLISHED, SAME, Places, PublishedColumn, sustained
from triathlon_site.published._read import Published, read_published
from triathlon_site.published._tables import (
    JoinedModel,
    PublishedRow,
    PublishedTable,
    join_models,
    published_tables,
)
