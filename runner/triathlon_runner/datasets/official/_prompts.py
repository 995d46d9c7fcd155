"""The authors' own prompts: files of their repositories, pinned like the problems; none ships with us."""

from typing import Final, Literal

import yaml

from triathlon_runner.datasets import DataFile, DataStore
from triathlon_runner.datasets.official._catalogue import RAW

_EVALOOOP: Final = f"{RAW}/evalooop/EvaLooop"
_REVAL: Final = f"{RAW}/r-eval/REval/2f148b913deb4ae0e0ce41f0245ef35054ede8d6"

LOOP_PROMPTS: Final = DataFile(
    name="prompts/evaloop/generation_summarization.yaml",
    url=f"{_EVALOOOP}/7d44a8e872d46261754a7182514233e5bfab6d14/experiments/generation_summarization.yaml",
    sha256="c32429c55bda2c4459025b37c673a955be268b423d2c9efcb5ad22ae95c5db7d",
    of="file",
    version="7d44a8e",
    licence="MIT",
)
JUDGE_PROMPT: Final = DataFile(
    name="prompts/evaloop/judge.txt",
    url=f"{_EVALOOOP}/856a8860ba42a9d4af566b65710a75d23f32c945/evaloop/analysis/similarity.py",
    sha256="95a405af1b020aba7ed26decf1baa63bf46575d5a8dc15d89a40fa5299aed9d0",
    of="file",
    version="856a886",
    licence="MIT",
    literal="DEFAULT_JUDGE_PROMPT",
)

PromptStyle = Literal["direct", "cot"]
PromptKind = Literal["coverage", "path", "state", "output"]
_RUNTIME_SHA256: Final[dict[PromptStyle, dict[PromptKind, str]]] = {
    "direct": {
        "coverage": "1a96d57e3d7eec08c8b757381ba7d9d3ee4b77dfd631a009aae685f504a7629d",
        "path": "ecf6b4df7c14f2aac495e943a5c531a7f2dca554455440415fccafca08e3d30e",
        "state": "eea297983e6bafd51ed950d599efe7151eba01815e744efe243eae647074e353",
        "output": "4bf741cf64666b4468684f4c08a06a0026586173d1d1df6af138793ebd522ff9",
    },
    "cot": {
        "coverage": "3809a152403f7fd116f5f6724dbdf6abc0479689eb999cad1d814bf6d6214f3b",
        "path": "295f1813facfc67659968e7ba1a00eb6abdab65a9ae930d4e5331406c054c301",
        "state": "b7627043bb502b260398f0a1f81ceb128027895b4f7c8fd3780aa36b3840e253",
        "output": "26c0dc3c18a2c5ec458b619fa359892b55c68dff1e038afc9982beb1535f2a90",
    },
}
RUNTIME_PROMPTS: Final[dict[PromptStyle, dict[PromptKind, DataFile]]] = {
    style: {
        kind: DataFile(
            name=f"prompts/reval/{style}_{kind}.txt",
            url=f"{_REVAL}/prompts/{style}_{kind}.txt",
            sha256=sha256,
            of="file",
            version="2f148b9",
            licence="none stated",
        )
        for kind, sha256 in by_kind.items()
    }
    for style, by_kind in _RUNTIME_SHA256.items()
}
PROMPT_FILES: Final[dict[str, tuple[DataFile, ...]]] = {
    "loop": (LOOP_PROMPTS, JUDGE_PROMPT),
    "runtime": tuple(file for by_kind in RUNTIME_PROMPTS.values() for file in by_kind.values()),
}
"""By discipline."""


def loop_prompts(store: DataStore) -> dict[str, str]:
    """EVALOOOP's prompts under the names of ours: `generate`, `summary`, and `similarity` for the judge.

    Raises:
        DataUnavailableError: a file is not here and cannot be fetched.
    """
    generation, summary = yaml.safe_load(store.read(LOOP_PROMPTS))["tasks"]
    return {
        "generate": generation["prompt_template"],
        "summary": summary["prompt_template"],
        "similarity": store.read(JUDGE_PROMPT).decode(),
    }


def runtime_prompts(store: DataStore, style: PromptStyle) -> dict[str, str]:
    """REval's prompts by kind of question: the whole text that a model is asked.

    Raises:
        DataUnavailableError: a file is not here and cannot be fetched.
    """
    return {kind: store.read(file).decode() for kind, file in RUNTIME_PROMPTS[style].items()}
