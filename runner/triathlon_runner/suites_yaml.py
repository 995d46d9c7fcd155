"""suites.yaml: data sets of the user's own, each a suite in loop, runtime and evolved."""

import json
import os
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from triathlon_runner import pasted_keys
from triathlon_runner.datasets.user import Transformation, UserDataSet
from triathlon_runner.yaml_file import check_ids_differ, id_form, read, validated

NAME: Final = "suites.yaml"


class DataSetRow(BaseModel):
    """One data set."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    id: Annotated[str, id_form(60, "mine")]
    """What the ids of its suites end in: `loop/mine`, `runtime/mine`, `evolved/mine`."""
    title: Annotated[str, Field(min_length=1)]
    """As the board calls it."""
    problems: Annotated[str, Field(min_length=1)]
    """The file with the problems, relative to the folder of suites.yaml."""
    private: bool = False
    """Whether the texts of its tasks and of the replies stay out of the site and of what it exports."""
    seeds: str | None = None
    """The suite whose problems these were evolved from, such as `evolved/humaneval`."""
    transformation: Transformation | None = None
    """How they were evolved; with `combine` and `decompose` the board shows more."""

    def as_yaml(self) -> str:
        """One line of suites.yaml, without what is as by default."""
        fields = self.model_dump(exclude_defaults=True).items()
        texts = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields]
        return f"- {{{', '.join(texts)}}}"


class _Rows(RootModel[tuple[DataSetRow, ...]]):
    root: Annotated[tuple[DataSetRow, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        check_ids_differ([row.id for row in self.root])
        return self


def suites_file_beside(models_file: Path | None = None) -> Path:
    """Where suites.yaml lies: beside the list of models, which is TRIATHLON_MODELS where none is named."""
    return (models_file or Path(os.environ.get("TRIATHLON_MODELS") or "models.yaml")).parent / NAME


def read_suites_file(path: Path) -> tuple[UserDataSet, ...]:
    """Reads and checks suites.yaml; nothing is listed where there is no file. Problems are not read yet.

    Raises:
        UserError: bad YAML, an unknown key, a wrong value; names line and key.
    """
    if not path.exists():
        return ()
    file = read(path)
    pasted_keys.check_file(file)
    return tuple(
        UserDataSet(
            row.id,
            row.title,
            path.parent / row.problems,
            f"{path}, line {file.line((number, 'problems'))}",
            row.private,
            row.seeds,
            row.transformation,
        )
        for number, row in enumerate(validated(file, _Rows).root)
    )
