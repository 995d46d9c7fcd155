"""The base of every schema on disk."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Base of everything on disk: unknown keys and silent conversions are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, populate_by_name=True, use_attribute_docstrings=True
    )
