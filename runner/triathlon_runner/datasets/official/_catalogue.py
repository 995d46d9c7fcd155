"""Every official file that the project reads, pinned in `files.csv`, and the prompts in some of them."""

import csv
from importlib.resources import files
from typing import Any, Final, Literal, get_args

import yaml

from triathlon_runner.datasets._store import DataFile, DataStore

EvoEvalSet = Literal["difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise"]
EVOEVAL_SETS: Final[tuple[EvoEvalSet, ...]] = get_args(EvoEvalSet)
MbxpLanguage = Literal["python", "php", "ruby", "javascript", "perl"]
MBXP_LANGUAGES: Final[tuple[MbxpLanguage, ...]] = get_args(MbxpLanguage)
PromptStyle = Literal["direct", "cot"]
PromptKind = Literal["coverage", "path", "state", "output"]


def _pinned() -> dict[str, DataFile]:
    """Returns each line of `files.csv` by its name: where a file is released, its SHA-256, its licence."""
    lines = (files("triathlon_runner.datasets.official") / "files.csv").read_text("utf-8").splitlines()
    rows: list[dict[str, Any]] = list(csv.DictReader(lines))
    return {row["name"]: DataFile(**row) for row in rows}


FILES: Final = _pinned()
HUMANEVAL: Final = FILES["HumanEval.jsonl.gz"]
HUMANEVAL_PLUS: Final = FILES["HumanEvalPlus.jsonl.gz"]
"""The tag v0.1.10 points at an older commit; its release asset is the file at the commit in the address."""
MBPP_PLUS: Final = FILES["MbppPlus.jsonl.gz"]
DREVAL_DATA: Final = FILES["DREval_data.jsonl"]
DREVAL_TASKS: Final = FILES["DREval_tasks.jsonl"]
CLASSEVAL: Final = FILES["ClassEval_data.json"]
CRUXEVAL: Final = FILES["cruxeval.jsonl"]
HUMANEVAL_PRO: Final = FILES["humaneval_pro.json"]
MBPP_PRO: Final = FILES["mbpp_pro.json"]
EVOEVAL: Final = {name: FILES[f"EvoEval_{name}.jsonl.gz"] for name in EVOEVAL_SETS}
MBXP: Final[dict[MbxpLanguage, DataFile]] = {
    "python": FILES["mbpp_release_v1.jsonl"],
    "php": FILES["mbphp_release_v1.2.jsonl"],
    "ruby": FILES["mbrbp_release_v1.2.jsonl"],
    "javascript": FILES["mbjsp_release_v1.2.jsonl"],
    "perl": FILES["mbplp_release_v1.jsonl"],
}

LOOP_PROMPTS: Final = FILES["prompts/evaloop/generation_summarization.yaml"]
JUDGE_PROMPT: Final = FILES["prompts/evaloop/judge.txt"]
RUNTIME_PROMPTS: Final[dict[PromptStyle, dict[PromptKind, DataFile]]] = {
    style: {kind: FILES[f"prompts/reval/{style}_{kind}.txt"] for kind in get_args(PromptKind)}
    for style in get_args(PromptStyle)
}
PROMPT_FILES: Final[dict[str, tuple[DataFile, ...]]] = {
    "loop": (LOOP_PROMPTS, JUDGE_PROMPT),
    "runtime": tuple(file for by_kind in RUNTIME_PROMPTS.values() for file in by_kind.values()),
}
"""The authors' own prompts by discipline: files of their repositories; none ships with us."""


def loop_prompts(store: DataStore) -> dict[str, str]:
    """EVALOOOP's prompts under the names of ours: `generate`, `summary`, and `similarity` for the judge."""
    generation, summary = yaml.safe_load(store.read(LOOP_PROMPTS))["tasks"]
    return {
        "generate": generation["prompt_template"],
        "summary": summary["prompt_template"],
        "similarity": store.read(JUDGE_PROMPT).decode(),
    }


def runtime_prompts(store: DataStore, style: PromptStyle) -> dict[str, str]:
    """REval's prompts by kind of question: the whole text that a model is asked."""
    return {kind: store.read(file).decode() for kind, file in RUNTIME_PROMPTS[style].items()}
