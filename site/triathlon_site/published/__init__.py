"""What others published: read from `results/published/`, part of no tier and no paired test."""

from triathlon_site.published._facts import FactCounts
from triathlon_site.published._models import JoinedModel, join_models
from triathlon_site.published._read import Published, read_published
from triathlon_site.published._same import ONLY_PUBLISHED, SAME, Places
from triathlon_site.published._tables import (
    PublishedBoard,
    is_model,
    number_in,
    published_boards,
    sustained,
    whole_number,
)

__all__ = [
    "ONLY_PUBLISHED",
    "SAME",
    "FactCounts",
    "JoinedModel",
    "Places",
    "Published",
    "PublishedBoard",
    "is_model",
    "join_models",
    "number_in",
    "published_boards",
    "read_published",
    "sustained",
    "whole_number",
]
