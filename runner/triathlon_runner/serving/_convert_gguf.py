"""Writes a GGUF file as a Hugging Face folder in float32: `python _convert_gguf.py FILE.gguf FOLDER`.

Run by the interpreter in which vLLM lives; the runner itself never imports what this imports. transformers
reads the weights; its tokenizer lacks two things that a GGUF states, and they are put right here:
whether a text begins with the BOS token, and the `smollm` rule that every digit stands alone.
"""

import functools
import importlib
import json
import sys
from pathlib import Path
from typing import Any

_DIGITS_ALONE = {
    "type": "Sequence",
    "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    ],
}
# (tokenizer.ggml.model, tokenizer.ggml.pre) → what replaces transformers' pre-tokenizer; None: it is right.
# Only what was checked against llama.cpp's rule of that name: a slightly wrong tokenizer goes unnoticed.
_PRE_TOKENIZERS: dict[tuple[str, str], dict[str, Any] | None] = {
    ("gpt2", "smollm"): _DIGITS_ALONE,
    ("gpt2", "gpt-2"): None,
    ("gpt2", "qwen2"): None,
    ("llama", "default"): None,
}


def main(gguf: Path, folder: Path) -> None:
    """Converts, then loads the tokenizer again and checks it."""
    _open_once()
    stated = _stated(gguf)
    _write_weights(gguf, folder)
    _fix_tokenizer(folder, stated)
    _check_tokenizer(folder, stated)


def _open_once() -> None:
    """Makes transformers share one reader of the file: it opens the file five times, 13 s each."""
    gguf: Any = importlib.import_module("gguf")
    open_file = functools.cache(gguf.GGUFReader)
    gguf.GGUFReader = lambda path, *_: open_file(str(path))


def _stated(gguf: Path) -> dict[str, Any]:
    """What the file says about its tokenizer."""
    fields = importlib.import_module("gguf").GGUFReader(gguf).fields
    names = ("model", "pre", "add_bos_token", "bos_token_id", "tokens")
    stated = {name: field.contents() for name in names if (field := fields.get(f"tokenizer.ggml.{name}"))}
    kind = (stated.get("model", ""), stated.get("pre", "default"))
    if kind not in _PRE_TOKENIZERS:
        known = ", ".join(f"{model}/{pre}" for model, pre in _PRE_TOKENIZERS)
        sys.exit(
            f"error: expected a tokenizer of kind {known}, got {'/'.join(kind)}; "
            "serve the model's Hugging Face weights instead"
        )
    return stated


def _write_weights(gguf: Path, folder: Path) -> None:
    transformers, torch = importlib.import_module("transformers"), importlib.import_module("torch")
    # float32 keeps what the dequantised blocks hold exactly; the server rounds to its own precision.
    model = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent,
        gguf_file=gguf.name,
        quantization_config=transformers.GgufConfig(dequantize=True),
        dtype=torch.float32,
    )
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)


def _fix_tokenizer(folder: Path, stated: dict[str, Any]) -> None:
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    if replacement := _PRE_TOKENIZERS[stated["model"], stated.get("pre", "default")]:
        tokenizer["pre_tokenizer"] = replacement
    if stated.get("add_bos_token", False):
        token_id = stated["bos_token_id"]
        token = stated["tokens"][token_id]
        first, text = {"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
        tokenizer["post_processor"] = {
            "type": "TemplateProcessing",
            "single": [first, text],
            "pair": [first, text, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {token: {"id": token, "ids": [token_id], "tokens": [token]}},
        }
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    # A model's own tokenizer class would build its parts anew; this one takes the file as it stands.
    settings = folder / "tokenizer_config.json"
    config = json.loads(settings.read_text(encoding="utf-8")) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    settings.write_text(json.dumps(config, indent=2), encoding="utf-8")


_SAMPLE = "def f(x):\n    return x  + 120  # é\n"


def _check_tokenizer(folder: Path, stated: dict[str, Any]) -> None:
    tokenizer = importlib.import_module("transformers").AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(_SAMPLE)["input_ids"]
    begins = ids[:1] == [stated.get("bos_token_id")]
    if begins != bool(stated.get("add_bos_token", False)):
        sys.exit(
            f"error: add_bos_token is {stated.get('add_bos_token')}, but the written tokenizer gives {ids}"
        )
    text = tokenizer.decode(ids[1:] if begins else ids)
    if text != _SAMPLE:
        sys.exit(f"error: the written tokenizer turns {_SAMPLE!r} into {text!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
