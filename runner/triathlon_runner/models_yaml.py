"""models.yaml: which models there are, who made them and how each is reached."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationError, model_validator

from triathlon_runner import pasted_keys
from triathlon_runner.errors import UserError
from triathlon_runner.llm import ApiBlock, ModelKind, OpenAI, Sampling
from triathlon_runner.records import Strict, Usage
from triathlon_runner.serving import ServeConfig
from triathlon_runner.yaml_file import fault_in_words, id_form, matching, misplaced, read, validated

_MOST_TOKENS: Final = 10_000_000
"""More than any model writes in one reply: a larger `max_tokens` is a slip."""
_DAY: Final = r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?"
Day = Annotated[str, AfterValidator(matching(_DAY, "YYYY, YYYY-MM or YYYY-MM-DD, such as 2024-11"))]


class Price(Strict):
    """USD per million tokens."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]

    def usd(self, input_tokens: float, output_tokens: float) -> float:
        """Returns what so many tokens cost."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6

    def cost_of(self, usage: Usage) -> float | None:
        """Returns what this usage cost, as a manifest has it; None where a server counted no tokens."""
        return None if usage.uncounted else round(self.usd(usage.input_tokens, usage.output_tokens), 6)


class Settings(Strict):
    """What a row, or `defaults` for all rows, may set about asking."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """In a row: replaces the temperature of every suite, for a model that takes no other. In `defaults`: of
    suites that are greedy by protocol; one that samples (`@sampled`, `@temperature-0.4`, `--temperature`)
    keeps its own. Left out, each suite uses its paper's. Results at another temperature than the suite's own
    are of another protocol."""
    max_tokens: Annotated[int, Field(gt=0, le=_MOST_TOKENS)] | None = None
    """Replaces the token limit of every suite; left out, each suite uses its paper's."""
    concurrency: Annotated[int, Field(gt=0)] | None = None
    """Requests in flight at once, at most."""


class ModelRow(Settings):
    """One model. Exactly one of `serve` (we start it) and `api` (it is there)."""

    id: Annotated[str, id_form(100, "my-model-7b")]
    """Lower-case letters, digits, '.', '_', '-'; names the folder of its results."""
    name: str = Field(min_length=1, default_factory=lambda row: str(row.get("id", "")))
    """As the board calls it; the id where the row has none."""
    organization: str | None = None
    parameters: str | None = None
    """As people write it: 135M, 7B, 8x22B."""
    license: str | None = None
    open_weights: bool | None = None
    released: Day | None = None
    """YYYY, YYYY-MM or YYYY-MM-DD."""
    retired: Day | None = None
    """The day from which on it is not asked, because nobody serves it; the site says so."""
    kind: ModelKind = "instruct"
    """instruct: chat; base: it completes text."""
    profile: Literal["quick", "standard", "full"] = "quick"
    """The smallest profile of a run that asks it without its being named."""
    link: str | None = None
    notes: str | None = None
    """What a reader of the board should know, such as who packaged the weights."""
    bits: Annotated[int, Field(gt=0, lt=16)] | None = None
    """Of each weight in the file that is loaded, where fewer than 16: the site marks the name, `4-bit`."""
    serve: ServeConfig | None = None
    api: ApiBlock | None = None
    context: Annotated[int, Field(gt=0, le=_MOST_TOKENS)] | None = None
    """Tokens that the model can read and write together, by its makers. A question that exceeds them is its
    outcome `context_overflow`; left out, your own server that refuses a long question stops the model."""
    system_prompt: Literal["merge"] | None = None
    """`merge`: the instructions stand before the user's text, for a model that takes no system prompt."""
    price: Price | None = None
    speed: Annotated[float, Field(gt=0)] | None = None
    """Output tokens a second over all requests in flight, for estimates before a run has shown it."""

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if (self.serve is None) == (self.api is None):
            got = "neither" if self.api is None else "both"
            raise ValueError(
                f"expected exactly one of 'serve' and 'api', got {got}; see the README, 'Add a model'"
            )
        return self


def row_without_server(model_id: str, kind: ModelKind) -> ModelRow:
    """The row of a model whose replies are stored and which is not asked."""
    return ModelRow(id=model_id, kind=kind, api=OpenAI(base_url="http://localhost/v1", model=model_id))


class Registry(Strict):
    """The whole file."""

    defaults: Settings = Settings()
    judge: str | None = None
    """id of the model that compares prompts in the loop discipline; without it ASL is an interval."""
    models: Annotated[tuple[ModelRow, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _ids_are_unique_and_known(self) -> Self:
        for number, name in enumerate(self.ids):
            if self.ids.index(name) != number:
                message = f"expected an id of its own, but {name!r} stands twice; rename one"
                raise misplaced(("models", number, "id"), message)
        if self.judge is not None and self.judge not in self.ids:
            message = f"expected the id of a model, but {self.judge!r} is none; ids are {', '.join(self.ids)}"
            raise misplaced(("judge",), message)
        if self.judge is not None and self.row(self.judge).api is None:
            message = "expected a model with `api:`, because the judge works beside every other model"
            raise misplaced(("judge",), f"{message}, but {self.judge!r} has `serve:`; name another")
        return self

    @property
    def ids(self) -> list[str]:
        """The ids of all rows."""
        return [row.id for row in self.models]

    def row(self, model_id: str) -> ModelRow:
        """The row of this id; a UserError where there is none."""
        (row,) = self.select([model_id])
        return row

    def select(self, ids: Sequence[str] | None) -> tuple[ModelRow, ...]:
        """The rows of these ids in the file's order; all of them for None.

        Raises:
            UserError: an id that is not registered.
        """
        if ids is None:
            return self.models
        check_names(ids, self.ids, what="model", command="triathlon models")
        return tuple(row for row in self.models if row.id in ids)

    def sampling(self, row: ModelRow, suites: Sampling) -> Sampling:
        """How the model is asked where a suite says `suites`: by its row, else the defaults, else the suite.

        The defaults' temperature stands for greedy alone.
        """
        own, most = row.temperature, self.setting(row, "max_tokens")
        return replace(
            suites,
            temperature=own if own is not None else suites.temperature or self.defaults.temperature or 0.0,
            max_tokens=suites.max_tokens if most is None else most,
        )

    def setting(self, row: ModelRow, name: Literal["max_tokens", "concurrency"]) -> Any:
        """The row's own setting, else the default's, else None."""
        setting_of_row = getattr(row, name)
        return getattr(self.defaults, name) if setting_of_row is None else setting_of_row


_MOST_LISTED: Final = 8
"""Known names that an error lists; where there are more it names the command that does."""


def check_names(names: Iterable[str], known: Sequence[str], *, what: str, command: str = "") -> None:
    """Refuses names that are not known, each with the nearest that are, or with the command that lists them.

    Raises:
        UserError: a line for each unknown name.
    """
    faults = []
    for name in dict.fromkeys(names):
        if name in known:
            continue
        if near := difflib.get_close_matches(name, known, n=3):
            hint = f"did you mean {' or '.join(near)}?"
        elif command and len(known) > _MOST_LISTED:
            hint = f"`{command}` lists the {len(known)} that there are"
        else:
            hint = f"known are: {', '.join(known) or 'none'}"
        faults.append(f"unknown {what} {name!r}; {hint}")
    if faults:
        raise UserError("\n".join(faults))


def found_file(path: Path | None, *, needed: bool) -> Path | None:
    """The named list of models, else models.yaml here; None where that is missing and not `needed`.

    Raises:
        UserError: it is missing.
    """
    file = path or Path("models.yaml")
    if file.exists():
        return file
    if path is None and not needed:
        return None
    raise UserError(
        f"no models file at {str(file)!r}; write one (README, 'Add a model'), name it with --models-file, or"
        " run one model without a file: triathlon run --model NAME --base-url http://127.0.0.1:11434/v1"
    )


def load(path: Path | None, *, needed: bool = True) -> Registry:
    """Reads and checks a list of models, as `found_file` finds it; without a file there are none.

    Raises:
        UserError: a missing or unreadable file, bad YAML, an unknown key, a wrong value, what looks like the
            key of a provider; names line and key.
    """
    if (found := found_file(path, needed=needed)) is None:
        return Registry(models=())
    file = read(found)
    pasted_keys.check_file(file)
    return validated(file, Registry)


def single(
    model: str, base_url: str, key_env: str | None, listed: Registry, *, price: Price | None = None
) -> tuple[Registry, str]:
    """A registry with one more model, which no file describes, and that model's id.

    The id is made of the name under which the server knows it: `Qwen/Qwen3-8B` becomes `qwen-qwen3-8b`. The
    defaults and the judge of models.yaml (`listed`) hold.

    Raises:
        UserError: one of these is not usable, or the id stands in models.yaml for a model.
    """
    for option, value in (("--model", model), ("--base-url", base_url), ("--key-env", key_env or "")):
        pasted_keys.check_option(option, value)
    name = re.sub(r"[^a-z0-9._-]+", "-", model.lower()).strip("-._")[:100]
    if not name:
        raise UserError(
            "expected --model as the name that the server knows it by, with an ASCII letter or digit for the"
            f" name of its folder, got {model!r}; write a row with an `id:` of its own into models.yaml"
        )
    if name in listed.ids:
        raise UserError(
            f"expected --model to name no model of models.yaml, got {model!r}: its results would be those of"
            f" {name!r} there; run that one with --models {name}, without --base-url"
        )
    host = urlsplit(base_url).hostname  # both options are typed by one person: the host may have that key
    content = {"base_url": base_url, "model": model, "key_env": key_env, "send_key_to": host}
    try:
        row = ModelRow(id=name, name=model, api=OpenAI.model_validate(content), price=price)
    except ValidationError as error:
        fault = error.errors()[0]
        option = "--" + "-".join(str(part) for part in fault["loc"]).replace("_", "-")
        raise UserError(f"{option}: {fault_in_words(fault)}") from None
    return listed.model_copy(update={"models": (*listed.models, row)}), name
