"""The chain of languages (EVALOOOP, section 5) and how each opens a function."""

import re
from collections.abc import Sequence
from typing import Final

from triathlon_runner.languages import LANGUAGES, Language

CHAIN: Final = (
    Language.PYTHON,
    Language.PHP,
    Language.RUBY,
    Language.JAVASCRIPT,
    Language.PERL,
    Language.PYTHON,
)
STEPS: Final = len(CHAIN) - 1
"""M of the translation loop."""
TARGETS: Final = CHAIN[1:]
TITLES: Final = {language: spec.title for language, spec in LANGUAGES.items()}


def definition(language: Language, name: str = r"\w+") -> re.Pattern[str]:
    """Finds where a function (of this name) is defined."""
    return re.compile(LANGUAGES[language].definition.format(name=name), re.MULTILINE)


def opening(language: Language, name: str, parameters: Sequence[str]) -> str:
    """The line or lines that open a function, a line end behind them.

    A parameter that is called like a word of the language gets a "_" behind its name.
    """
    spec = LANGUAGES[language]
    reserved = spec.reserved_words.split()
    plain = (f"{parameter}_" if parameter in reserved else parameter for parameter in parameters)
    signed = (f"${parameter}" for parameter in parameters)
    return spec.opening.format(name=name, parameters=", ".join(plain), variables=", ".join(signed))
