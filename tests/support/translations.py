"""One function in the five languages of the translation loop, right in all of them."""

import re
from pathlib import Path
from typing import Any, Final

from support.case_files import sections
from triathlon_runner.sandbox import Language
from triathlon_runner.translation import CoreTask

TALLY: Final = {
    Language(name): f"{text}\n" for name, text in sections(Path(__file__).with_name("tally.txt")).items()
}
CASES: Final[tuple[tuple[tuple[Any, ...], Any], ...]] = (
    ((["a", "b", "a"], 2), [{"a": 2}, True, 1.5, "xx", None]),
    ((["a", "b"], 2), [{}, False, 1.0, "xx", None]),
    (([], 0), [{}, False, 0.0, "", None]),
    ((["1", "é", "1", "é"], 1), [{"1": 2, "é": 2}, True, 2.0, "x", None]),
)
TASK: Final = CoreTask("t/tally", 3, TALLY[Language.PYTHON], "tally", ("words", "least"), CASES)


def target_of(text: str) -> Language:
    """The language that a question of our built-in prompts asks for."""
    asked = re.search(r"program below into (\w+)\.", text)
    assert asked is not None, text
    return Language(asked[1].lower())
