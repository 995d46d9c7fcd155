"""The languages whose programs are executed: each is described by a `LanguageSpec`.

To add a language: a member of `Language`, an entry in `LANGUAGES`, its harness in `sandbox/_languages/`, an
example in `translation/prompts/`, and its interpreter in `tools/install-interpreters`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Language(StrEnum):
    PYTHON = "python"
    PHP = "php"
    RUBY = "ruby"
    JAVASCRIPT = "javascript"
    PERL = "perl"


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """One language: how it is executed, how its functions look in a reply, which values it has."""

    title: str
    fence_labels: frozenset[str]
    """Labels that models write after an opening fence: `py` for Python."""
    version_program: str
    """A program whose function `version` returns the interpreter's version."""
    definition: str
    """Regular expression for the definition of the function `{name}`."""
    opening: str
    """The line or lines that open a function: `{name}`, `{parameters}`, or `{variables}` with a $ each."""
    command: tuple[str, ...] = ()
    """How its interpreter is started; empty for the runner's own Python, whose harness is
    `sandbox/_inside/child.py`."""
    harness: str = ""
    """File in `sandbox/_languages/`: loads a program, answers its calls, writes plain values."""
    libraries: tuple[str, ...] = ()
    """What the interpreter reads beside the system's libraries."""
    package: str = ""
    """Debian's package."""
    reserves_memory: bool = False
    """The interpreter reserves address space that it never uses: only what it may write counts."""
    last_line: str = r".*"
    """Regular expression for a line that can end a program, for code without a fence; all of it but blank
    space at its end."""
    file_tag: str = ""
    """What a program begins with, such as PHP's tag."""
    reserved_words: str = ""
    """Words that no parameter can be called; languages whose variables carry a sign have none."""
    has_truth_values: bool = True
    """False: the language has 1 for true, and 0, "" or nothing for false."""
    has_number_type: bool = True
    """False: the language treats a number and its digits as text, 1 and "1", as the same."""
    lists_are_maps: bool = False
    """Whether a list is a map with the keys 0, 1 and so on."""


LANGUAGES: Final[dict[Language, LanguageSpec]] = {
    Language.PYTHON: LanguageSpec(
        title="Python",
        fence_labels=frozenset({"python", "python3", "py", "py3"}),
        version_program="import sys\ndef version():\n    return sys.version.split()[0]\n",
        definition=r"^[ \t]*(async[ \t]+)?def[ \t]+{name}\b",
        opening="def {name}({parameters}):\n",
    ),
    Language.PHP: LanguageSpec(
        title="PHP",
        fence_labels=frozenset({"php"}),
        version_program="""<?php function version() {
            $lacks = ', without mbstring: programs that call mb_strlen and its like crash; on Debian: '
                . 'apt-get install php-mbstring';
            return PHP_VERSION . (extension_loaded('mbstring') ? '' : $lacks);
        }""",
        definition=r"\bfunction\s+&?{name}\b",
        opening="function {name}({variables}) {{\n",
        command=("php", "-d", "display_errors=stderr", "-d", "memory_limit=-1", "-d", "opcache.enable_cli=0"),
        harness="harness.php",
        libraries=("/usr/lib/php", "/etc/php", "/usr/share/php"),
        package="php-cli php-mbstring",
        last_line=r".*[}>]",
        file_tag="<?php",
        lists_are_maps=True,
    ),
    Language.RUBY: LanguageSpec(
        title="Ruby",
        fence_labels=frozenset({"ruby", "rb"}),
        version_program="def version\n  RUBY_VERSION\nend\n",
        definition=r"\bdef\s+(self\.)?{name}\b",
        opening="def {name}({parameters})\n",
        command=("ruby", "--disable-did_you_mean", "--disable-error_highlight"),
        harness="harness.rb",
        libraries=("/usr/lib/ruby", "/usr/share/rubygems-integration", "/var/lib/gems"),
        package="ruby",
        last_line=r"end",
        reserved_words="""
            alias and begin break case class def do else elsif end ensure false for if in module next nil not
            or redo rescue retry return self super then true undef unless until when while yield
        """,
    ),
    Language.JAVASCRIPT: LanguageSpec(
        title="JavaScript",
        fence_labels=frozenset({"javascript", "js", "node", "nodejs"}),
        version_program="function version() { return process.versions.node; }",
        definition=r"\bfunction(\s*\*)?\s*{name}\b|\b{name}\s*=\s*(async\s*)?(function\b|\(|\w+\s*=>)",
        opening="function {name}({parameters}) {{\n",
        command=("node", "--stack-size=3900", "--max-old-space-size=3072", "--random-seed=1"),
        harness="harness.js",
        libraries=("/usr/share/nodejs", "/usr/share/node_modules"),
        package="nodejs",
        reserves_memory=True,
        last_line=r".*[};]\s*[;)]*|\s*[;)]+",
        reserved_words="""
            await break case catch class const continue debugger default delete do else enum export extends
            false finally for function if implements import in instanceof interface let new null package
            private protected public return static super switch this throw true try typeof var void while
            with yield
        """,
    ),
    Language.PERL: LanguageSpec(
        title="Perl",
        fence_labels=frozenset({"perl", "pl"}),
        version_program="sub version { return sprintf('%vd', $^V); }",
        definition=r"\bsub\s+{name}\b",
        opening="sub {name} {{\n    my ({variables}) = @_;\n",
        command=("perl",),
        harness="harness.pl",
        libraries=("/usr/share/perl", "/usr/share/perl5", "/usr/lib/perl5", "/etc/perl"),
        package="perl",
        last_line=r".*\}|1;",
        has_truth_values=False,
        has_number_type=False,
    ),
}
