"""The table of reply markup: reasoning, wrappers of a final answer, tokens that end a turn.

A new model family's markers are one line here: endpoints, extraction and every discipline read this table.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple


class Pair(NamedTuple):
    """Two markers with what stands between them; each is a regular expression, read in any letter case."""

    begin: str
    end: str
    lone_end: bool = True
    """Whether the end counts without a beginning, as where a chat template put that into the prompt."""


NEVER: Final = r"(?!)"
"""Matches nothing."""
_THINK = r"(?:(?:mm:|seed:|longcat_)?think(?::opensource)?|ifm\|think\w{0,9})"
_HARMONY = r"(?:<\|start\|>\w+)?<\|channel\|>{}[^<\n]{{0,80}}(?:<\|constrain\|>\w+)?<\|message\|>"

HARMONY_TURN: Final = r"(?-i:assistant(?:analysis|commentary|final))"
"""What is left of the head of a message of Harmony after a server dropped its special tokens."""

REASONING: Final = (
    Pair(rf"<{_THINK}>", rf"</{_THINK}>"),
    Pair(r"<thinking>", r"</thinking>"),
    Pair(r"<thought>", r"</thought>"),
    Pair(r"<reasoning>", r"</reasoning>"),
    Pair(r"\[THINK\]", r"\[/THINK\]"),
    Pair(r"◁think▷", r"◁/think▷"),
    Pair(r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    Pair(r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    Pair(r"<\|channel>thought\b", r"<channel\|>"),
    Pair(r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),
    Pair(r"<\|think\|>", r"<\|end\|>(?:<\|begin\|>assistant)?<\|content\|>"),
    Pair(NEVER, r"(?:<\|end\|>\s*)?" + _HARMONY.format("final")),
    Pair(_HARMONY.format("(?:analysis|commentary)"), r"<\|end\|>|<\|call\|>", lone_end=False),
    # Harmony without its special tokens.
    Pair(r"\A\s*(?-i:analysis)(?=[^\W\d_])", r"(?-i:assistantfinal)"),
)
"""Text between these is reasoning, never the answer."""

WRAPPERS: Final = (
    Pair(r"<answer>", r"</answer>"),
    Pair(r"<response>", r"</response>"),
    Pair(r"\\boxed\{", NEVER),
    Pair(r"<\|begin_of_box\|>", r"<\|end_of_box\|>"),
    Pair(r"<\|begin_of_solution\|>", r"<\|end_of_solution\|>"),
    Pair(r"<\|START_RESPONSE\|>", r"<\|END_RESPONSE\|>"),
    Pair(r"\[ANSWER\]", r"\[/ANSWER\]"),
    Pair(r"\[BEGIN\]", r"\[DONE\]"),
)
"""What stands between these is the final answer."""

END_TOKENS: Final = (
    r"<\|(?:endoftext|im_end|eot_id|eom_id|end_of_text|end|return|EOT|END_OF_TURN_TOKEN)\|>",
    r"<\|(?:im_start|start_header_id|user|system)\|>",
    r"</s>|<eos>|<EOT>|<file_sep>|<fim_(?:prefix|middle|suffix|pad)>",
    r"<end_of_turn>|<start_of_turn>|<turn\|>|<\|turn>|<end_of_utterance>",
    r"\[/?INST\]|\[e~\[",
    r"<｜[^｜\n]{1,40}｜>",
)
"""The answer ends at the first of these. So it does at any other `<|name|>` but where it begins."""

HEAD: Final = re.compile(
    r"\s*(?:(?:<\|im_start\|>|<\|start_header_id\|>|<start_of_turn>|<\|turn>)\s*(?:assistant|model)\b"
    r"(?:<\|end_header_id\|>)?|<s>|<bos>|\[/INST\] ?"
    rf"|(?!{'|'.join(END_TOKENS)}|{'|'.join(pair.begin for pair in WRAPPERS)})<\|\w{{1,40}}\|>)",
    re.IGNORECASE,
)
"""What a server may leave in front of an answer: the turn's own header."""


_FIRST: Final = r"[<\[\\◁]"


def _any_of(patterns: Sequence[str], first: str = _FIRST) -> re.Pattern[str]:
    """One pattern with a group for each. `first`: what each begins with, looked at before them all, because
    trying dozens of patterns at every character takes ten times as long.
    """
    return re.compile(f"(?={first})(?:{'|'.join(f'({pattern})' for pattern in patterns)})", re.IGNORECASE)


REASONING_MARKERS: Final = _any_of(
    [marker for pair in REASONING for marker in (pair.begin, pair.end)],
    rf"{_FIRST}|(?-i:assistantfinal)|\A\s*(?-i:analysis)",
)
"""Group 2n+1 is the beginning of pair n, group 2n+2 its end."""
WRAPPER_MARKERS: Final = _any_of([marker for pair in WRAPPERS for marker in (pair.begin, pair.end)])
ENDS: Final = _any_of(
    [
        *END_TOKENS,
        rf"(?!{'|'.join(f'{pair.begin}|{pair.end}' for pair in WRAPPERS)})<\|\w{{1,40}}\|>",
    ]
)

AFTER_A_FENCE: Final = re.compile(
    rf"\s*(?:$|{HARMONY_TURN}|{REASONING_MARKERS.pattern}|{WRAPPER_MARKERS.pattern}|{ENDS.pattern})",
    re.IGNORECASE,
)
"""What may stand behind a closing fence on its line."""
