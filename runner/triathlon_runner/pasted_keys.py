"""Finds providers' keys in texts that must hold none, and removes them from messages.

A key is known by how its maker lets it begin. No message shows the value. The patterns take time in
proportion to the text: what is not bounded begins only where a word does, so that nothing is read twice.
"""

import re
from typing import Final

from triathlon_runner.errors import UserError
from triathlon_runner.yaml_file import YamlFile

ADVICE: Final = (
    "A key must never stand in this file: put it into an environment variable, and name that variable in"
    " key_env (in secret_headers for a header); if the file was ever shared, have the key replaced"
)
REMOVED: Final = "[key removed]"

_KEY: Final = re.compile(
    r"""(?<![\w-])(?:
        sk-(?:proj|ant|or|svcacct|admin)-[\w-]{6,}        # OpenAI, Anthropic, OpenRouter
        | (?:sk-|gsk_|xai-|pplx-|csk-)(?=[A-Za-z_-]*[0-9])[\w-]{8,}     # DeepSeek and others, Groq, xAI, …
        | AIza[\w-]{16,} | ya29\.[\w-]{16,} | GOCSPX-[\w-]{16,}         # Google
        | gh[pousr]_[A-Za-z0-9]{12,} | github_pat_\w{12,} | glpat-[\w-]{12,} | npm_[A-Za-z0-9]{24,}
        | pypi-AgE[\w-]{12,} | hf_[A-Za-z0-9]{16,} | nvapi-[\w-]{12,} | tgp_v1_[\w-]{12,}
        | fw_[A-Za-z0-9]{20,} | r8_[A-Za-z0-9]{20,} | (?:AKIA|ASIA)[0-9A-Z]{16}
        | xox[abeprs]-[A-Za-z0-9-]{10,}                                 # Slack, Stripe, SendGrid:
        | [sr]k_(?:live|test)_[A-Za-z0-9]{10,} | SG\.[\w-]{16,}\.[\w-]{16,}
        | eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*                               # a JSON Web Token
        | Bearer\ (?=[\w.~+/-]{0,200}[0-9])[\w.~+/=-]{20,}
        | -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----[\sA-Za-z0-9+/=:,-]{16,}
    )
    | (?i:api[_-]?key|aws_secret_access_key)["'\s]{0,3}[:=]["'\s]{0,3}
      (?=[\w+/-]{0,200}[0-9])[\w+/-]{32,}                 # Azure, AWS: their keys begin in no special way
    """,
    re.VERBOSE | re.ASCII,
)
_PLACEHOLDER: Final = re.compile(r"(?i)example|your|placeholder|change.?me|^.{2,11}(.)\1{7,}$")
"""Found in what documentation writes in place of a key, such as AKIAIOSFODNN7EXAMPLE."""
_IN_ADDRESS: Final = re.compile(
    r"(?<=//)(?!user:password@)[^/\s@]{1,320}(?=@)"
    r"|(?i:(?<=[?&]key=)|(?<=[?&]api[_-]key=)|(?<=[?&]token=))[^&\s#]{4,}"
)
"""A password or key in an address: messages leave it out, and texts may hold it (`ftp://user:pass@host`)."""
_ESCAPE: Final = re.compile(r"\\+(?:u([0-9A-Fa-f]{4})|([\s\S]))")


def why_secret(text: str) -> str:
    """Returns why a text, as it is or without its escapes, looks like a key; empty where it does not."""
    for form in (text, _ESCAPE.sub(_unescaped, text)) if "\\" in text else (text,):
        if any(not _PLACEHOLDER.search(key[0]) for key in _KEY.finditer(form)):
            return "what begins like a provider's key (not shown)"
    return ""


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else " " if escape[2] in "bfnrt" else escape[2]


def remove_keys(text: str) -> str:
    """Replaces by `[key removed]` every key in a text, and every password or key in an address."""
    return _IN_ADDRESS.sub(REMOVED, _KEY.sub(REMOVED, text))


def check_option(option: str, value: str) -> None:
    """Raises a UserError that names the option, and not the value, where the value holds a key."""
    if why := why_secret(value):
        raise UserError(
            f"expected no key at {option}, got {why}; put the key into an environment"
            " variable and name that variable with --key-env"
        )


def check_file(file: YamlFile) -> None:
    """Raises a UserError that names each line with a key in a value, a name or a comment, never the key."""
    texts = list(enumerate(file.text.splitlines(), 1))
    # of several lines, or with YAML's own escapes
    texts += [(node.start_mark.line + 1, node.value) for node in file.scalars()]
    found = {number: why for number, text in texts if (why := why_secret(text))}
    if found:
        lines = [f"{file.path}, line {n}: expected no key, got {why}" for n, why in sorted(found.items())]
        raise UserError("\n".join((*lines, ADVICE)))
