"""The chain of languages (EVALOOOP, section 5) and how each opens a function."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from triathlon_runner.sandbox import Language

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

TITLES: Final[Mapping[Language, str]] = {
    Language.PYTHON: "Python",
    Language.PHP: "PHP",
    Language.RUBY: "Ruby",
    Language.JAVASCRIPT: "JavaScript",
    Language.PERL: "Perl",
}
LABELS: Final[Mapping[Language, frozenset[str]]] = {
    Language.PYTHON: frozenset({"python", "python3", "py"}),
    Language.PHP: frozenset({"php"}),
    Language.RUBY: frozenset({"ruby", "rb"}),
    Language.JAVASCRIPT: frozenset({"javascript", "js", "node", "nodejs"}),
    Language.PERL: frozenset({"perl", "pl"}),
}
"""What models write behind an opening fence."""

_DEFINITIONS: Final[Mapping[Language, str]] = {
    Language.PYTHON: r"^[ \t]*(async[ \t]+)?def[ \t]+{name}\b",
    Language.PHP: r"\bfunction\s+&?{name}\b",
    Language.RUBY: r"\bdef\s+(self\.)?{name}\b",
    Language.JAVASCRIPT: r"\bfunction\s*\*?\s*{name}\b|\b{name}\s*=\s*(async\s*)?(function\b|\(|\w+\s*=>)",
    Language.PERL: r"\bsub\s+{name}\b",
}


def definition(language: Language, name: str = r"\w+") -> re.Pattern[str]:
    """Finds where a function (of this name) is defined."""
    return re.compile(_DEFINITIONS[language].format(name=name), re.MULTILINE)


_RESERVED: Final[Mapping[Language, str]] = {
    Language.JAVASCRIPT: """
        await break case catch class const continue debugger default delete do else enum export extends false
        finally for function if implements import in instanceof interface let new null package private
        protected public return static super switch this throw true try typeof var void while with yield
    """,
    Language.RUBY: """
        alias and begin break case class def do else elsif end ensure false for if in module next nil not or
        redo rescue retry return self super then true undef unless until when while yield
    """,
}
"""Words that no parameter can be called there; parameters of PHP and Perl carry a sign in front."""


def opening(language: Language, name: str, parameters: Sequence[str]) -> str:
    """The line or lines that open a function, a line end behind them.

    A parameter that is called like a word of the language gets a "_" behind its name.
    """
    reserved = _RESERVED.get(language, "").split()
    plain = ", ".join(f"{parameter}_" if parameter in reserved else parameter for parameter in parameters)
    signed = ", ".join(f"${parameter}" for parameter in parameters)
    return {
        Language.PYTHON: f"def {name}({plain}):\n",
        Language.PHP: f"function {name}({signed}) {{\n",
        Language.RUBY: f"def {name}({plain})\n",
        Language.JAVASCRIPT: f"function {name}({plain}) {{\n",
        Language.PERL: f"sub {name} {{\n    my ({signed}) = @_;\n",
    }[language]
