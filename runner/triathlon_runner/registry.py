"""models.yaml: which models there are, who made them and how each is reached."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from triathlon_runner.endpoints import ApiConfig
from triathlon_runner.errors import UserError
from triathlon_runner.serving import ServeConfig


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Price(_Config):
    """USD per million tokens."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


class Settings(_Config):
    """What a row, or `defaults` for all rows, may set about asking."""

    temperature: Annotated[float, Field(ge=0)] | None = None
    """In a row: replaces the temperature of every suite, for a model that takes no other. In `defaults`: of
    suites that are greedy by protocol; one that samples (`@sampled`, `@temperature-0.4`, `--temperature`)
    keeps its own. Left out, each suite uses its paper's. Results at another temperature than the suite's own
    are of another protocol."""
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    """Replaces the token limit of every suite; left out, each suite uses its paper's."""
    concurrency: Annotated[int, Field(gt=0)] | None = None
    """Requests in flight at once, at most."""


class ModelRow(Settings):
    """One model. Exactly one of `serve` (we start it) and `api` (it is there)."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")]
    """Lower-case letters, digits, '.', '_', '-'; names the folder of its results."""
    name: str = Field(default_factory=lambda row: str(row.get("id", "")))
    """As the board calls it; the id where the row has none."""
    organization: str | None = None
    parameters: str | None = None
    """As people write it: 135M, 7B, 8x22B."""
    license: str | None = None
    open_weights: bool | None = None
    released: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}){0,2}$")] | None = None
    """YYYY, YYYY-MM or YYYY-MM-DD."""
    kind: Literal["instruct", "base"] = "instruct"
    """instruct: chat; base: it completes text."""
    link: str | None = None
    notes: str | None = None
    """What a reader of the board should know, such as who packaged the weights."""
    serve: ServeConfig | None = None
    api: ApiConfig | None = None
    price: Price | None = None
    speed: Annotated[float, Field(gt=0)] | None = None
    """Output tokens a second over all requests in flight, for estimates before a run has shown it."""

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if (self.serve is None) == (self.api is None):
            raise ValueError("expected exactly one of 'serve' and 'api'")
        return self


class Registry(_Config):
    """The whole file."""

    defaults: Settings = Settings()
    judge: str | None = None
    """id of the model that compares prompts in the loop discipline; without it ASL is an interval."""
    models: tuple[ModelRow, ...]

    @model_validator(mode="after")
    def _ids_are_unique_and_known(self) -> Self:
        ids = [row.id for row in self.models]
        doubled = sorted({name for name in ids if ids.count(name) > 1})
        if doubled:
            raise ValueError(
                f"each id may stand once, but {doubled[0]!r} stands {ids.count(doubled[0])} times"
            )
        if self.judge is not None and self.judge not in ids:
            raise ValueError(f"judge {self.judge!r} is not the id of a model; ids are {', '.join(ids)}")
        if self.judge is not None and self.row(self.judge).api is None:
            raise ValueError(f"the judge works beside every other model, so {self.judge!r} needs an api")
        return self

    def row(self, model_id: str) -> ModelRow:
        """The row of an id that is known to be there."""
        return next(row for row in self.models if row.id == model_id)

    def select(self, ids: Sequence[str] | None) -> tuple[ModelRow, ...]:
        """The rows of these ids in the file's order; all of them for None.

        Raises:
            UserError: an id that is not registered.
        """
        if ids is None:
            return self.models
        check_names(ids, [row.id for row in self.models], what="model")
        return tuple(row for row in self.models if row.id in ids)

    def temperature(self, row: ModelRow, suites: float) -> float:
        """At which the model is asked where a suite's protocol says `suites`."""
        if row.temperature is not None:
            return row.temperature
        greedy = suites == 0 and self.defaults.temperature is not None
        return self.defaults.temperature or 0.0 if greedy else suites

    def setting(self, row: ModelRow, name: Literal["max_tokens", "concurrency"]) -> Any:
        """The row's own setting, else the default's, else None."""
        own = getattr(row, name)
        return getattr(self.defaults, name) if own is None else own


def check_names(names: Iterable[str], known: Sequence[str], *, what: str) -> None:
    """Refuses a name that is not known, with the nearest that is.

    Raises:
        UserError: naming the first unknown one.
    """
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known are: {', '.join(known)}"
            raise UserError(f"unknown {what} {name!r}; {hint}")


def load(path: Path) -> Registry:
    """Reads and checks models.yaml.

    Raises:
        UserError: a missing or unreadable file, bad YAML, an unknown key, a wrong value; names line and key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(
            f"no models file at {str(path)!r}; write one (README, 'Add a model') or pass --models-file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the models file {str(path)!r}: {error}") from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UserError(f"{path} is not YAML: {error}") from None
    if not isinstance(content, dict) or root is None:
        raise UserError(f"{path}: expected a mapping with the key 'models', got {content!r:.80}")
    _refuse_doubled_keys(root, path)
    try:
        return Registry.model_validate(content)
    except ValidationError as error:
        raise UserError("\n".join(_explain(error, root, path))) from None


_ADVICE: Final = {
    "extra_forbidden": "unknown key; remove it or mend its spelling",
    "missing": "required and not there; add it",
}


def _explain(error: ValidationError, root: yaml.Node, path: Path) -> Iterable[str]:
    for fault in error.errors():
        place = [part for part in fault["loc"] if not isinstance(part, str) or "function" not in part]
        key = ".".join(str(part) for part in place) or "the file"
        value = "" if fault["type"] in {"missing", "value_error"} else f", got {fault['input']!r:.80}"
        message = _ADVICE.get(fault["type"], fault["msg"].removeprefix("Value error, "))
        yield f"{path}, line {_line(root, place)}: {key}: {message}{value}"


def _line(node: yaml.Node, place: Sequence[int | str]) -> int:
    """1-based line of the deepest node on the way to `place` that exists in the file."""
    line = node.start_mark.line + 1
    for part in place:
        if isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == part]
            if not pairs:
                break
            line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def _refuse_doubled_keys(node: yaml.Node, path: Path) -> None:
    """YAML would silently keep the last of two equal keys."""
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                raise UserError(
                    f"{path}, line {line}: key {key.value!r} also stands in line {seen[key.value]}; keep one"
                )
            seen[key.value] = line
            _refuse_doubled_keys(value, path)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            _refuse_doubled_keys(value, path)
