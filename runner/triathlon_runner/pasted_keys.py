"""Finds what looks like a key in a file or an option that must not hold one, and removes it from messages.

No message shows the value.
"""

import re
from collections.abc import Iterator
from typing import Final

import yaml

from triathlon_runner.errors import UserError
from triathlon_runner.yaml_file import Place, YamlFile

ADVICE: Final = (
    "A key must never stand in this file: put it into an environment variable, and name that variable in"
    " key_env (in secret_headers for a header); if the file was ever shared, have the key replaced"
)

REMOVED: Final = "[key removed]"

_WORD: Final = r"[A-Za-z0-9_-]"
_KNOWN: Final = re.compile(
    rf"""(?<![A-Za-z0-9_-])(?:
        sk-(?:proj|ant|or|svcacct|admin)-{_WORD}{{6,}}   # OpenAI, Anthropic, OpenRouter
        | sk-(?=[A-Za-z_-]*[0-9]){_WORD}{{8,}}           # the same, DeepSeek and most others
        | AIza{_WORD}{{16,}}                             # Google
        | gh[pousr]_[A-Za-z0-9]{{12,}} | github_pat_[A-Za-z0-9_]{{12,}} | glpat-{_WORD}{{12,}}
        | hf_[A-Za-z0-9]{{12,}} | gsk_[A-Za-z0-9]{{12,}} | xai-[A-Za-z0-9]{{12,}} | nvapi-{_WORD}{{12,}}
        | pplx-[A-Za-z0-9]{{12,}} | csk-[A-Za-z0-9]{{12,}} | fw_[A-Za-z0-9]{{16,}} | r8_[A-Za-z0-9]{{16,}}
        | tgp_v1_{_WORD}{{12,}} | (?:AKIA|ASIA)[0-9A-Z]{{16}} | xox[abeprs]-[A-Za-z0-9-]{{10,}}
        | eyJ{_WORD}{{8,}}\.{_WORD}{{8,}}\.{_WORD}*      # a JSON Web Token
        | (?:Bearer|Basic)\s+(?=\S*[0-9])[A-Za-z0-9+/=._~-]{{8,}}
        | -----BEGIN\ [A-Z ]*PRIVATE\ KEY[\s\S]*
    )""",
    re.VERBOSE,
)
"""How the keys of known providers begin."""
_PASSWORD_IN_ADDRESS: Final = re.compile(
    r"https?://[^/\s@]+@|\b[a-z][a-z0-9+.-]*://[^/\s:@]+:[^/\s@]+@", re.IGNORECASE
)
_KEY_IN_QUERY: Final = re.compile(
    r"[?&](?:api[_-]?key|key|(?:access|auth)[_-]?token|token|secret|password|sig|signature)=[^&\s#]{4,}",
    re.IGNORECASE,
)

_ALWAYS_SECRET: Final = re.compile(
    r"(?:^|[ _.-])(?:api[ _.-]?key"
    r"|(?:secret|private|auth|authorization|bearer|access|subscription|account)[ _.-]?(?:key|token)"
    r"|secret|client[ _.-]?secret|password|passwd|passphrase|credentials?|authorization|bearer|cookie)$"
)
"""Names under which any text is a secret."""
_OFTEN_SECRET: Final = re.compile(r"(?:^|[ _.-])(?:key|token|auth|signature|key[ _.-]?env)$")
"""Names under which a long random text is a secret; not so `eos_token: </s>`, `prompt_cache_key: my-run`."""
_ENVIRONMENT_SECRET: Final = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
"""Names of environment variables that hold a secret."""
_NO_VALUE: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool"))
_RANDOM_LENGTH: Final = 16


def check_file(file: YamlFile) -> None:
    """Refuses a file that holds what looks like a key, in a value, a name or a comment.

    Raises:
        UserError: names the line and the place, never the value.
    """
    secrets = list(_in_values(file))
    told = {number for number, _, _ in secrets}
    for number, line in enumerate(file.text.splitlines(), 1):
        if number not in told and (why := why_secret(line)):
            secrets.append((number, "a comment, or text of several lines", why))
    if secrets:
        lines = [
            f"{file.path}, line {number}: {place}: expected no key, got {why}"
            for number, place, why in sorted(secrets)
        ]
        raise UserError("\n".join((*lines, ADVICE)))


def check_option(option: str, value: str) -> None:
    """Refuses an option of the command line that holds what looks like a key.

    Raises:
        UserError: names the option, never the value.
    """
    if why := why_secret(value) or (looks_random(value) and "a long random text (not shown)"):
        raise UserError(
            f"expected no key at {option}, got {why}; put the key into an environment"
            " variable and name that variable with --key-env"
        )


def why_secret(text: str) -> str:
    """What makes a text look like a key wherever it stands; empty where nothing does."""
    if _KNOWN.search(text):
        return "what begins like a provider's key (not shown)"
    if _PASSWORD_IN_ADDRESS.search(text):
        return "an address with a user or password before '@' (not shown)"
    if _KEY_IN_QUERY.search(text):
        return "an address with a key behind '?' (not shown)"
    return ""


def remove_keys(text: str) -> str:
    """Replaces every key that `why_secret` recognises in a text by `[key removed]`.

    `http://user:password@host`, which messages give as an example, stays.
    """
    for pattern in (_KNOWN, _PASSWORD_IN_ADDRESS, _KEY_IN_QUERY):
        text = pattern.sub(_removed, text)
    return text


def _removed(match: re.Match[str]) -> str:
    return match[0] if match[0].endswith("//user:password@") else REMOVED


def looks_random(text: str) -> bool:
    """Whether a text is long, without spaces, and mixes letters and digits as no name does."""
    if len(text) < _RANDOM_LENGTH or not re.fullmatch(r"[A-Za-z0-9+/=._~-]+", text):
        return False
    longest = max(re.split(r"[._~/-]", text), key=len)  # my-run-of-2026-01 is made of words
    return (
        len(longest) >= _RANDOM_LENGTH
        and sum(letter.isdigit() for letter in longest) >= 2
        and any(letter.isalpha() for letter in longest)
    )


def _in_values(file: YamlFile) -> Iterator[tuple[int, str, str]]:
    """Line, place and reason."""
    for place, node in file.scalars():
        why = why_secret(node.value) or _why_by_name(place, node)
        if why:
            yield node.start_mark.line + 1, _shown(place), why


def _why_by_name(place: Place, node: yaml.ScalarNode) -> str:
    names = [part for part in place if isinstance(part, str)]
    is_name = bool(place) and node.value == place[-1]
    if not names or is_name or node.tag in _NO_VALUE or not node.value:
        return ""
    if "secret_headers" in names:
        return ""  # holds the name of a variable; the row's own check refuses a key there
    if any(_ALWAYS_SECRET.search(_words(name)) for name in names):
        return f"a value under the name {names[-1]!r} (not shown)"
    if "env" in names[:-1] and _ENVIRONMENT_SECRET.search(names[-1].upper()):
        return f"a value for the variable {names[-1]!r} (set it in the shell that starts triathlon)"
    suspected = any(_OFTEN_SECRET.search(_words(name)) for name in names) or "headers" in names
    identifies = re.search(r"organi[sz]ation|project|(?:^|-)id$", names[-1], re.IGNORECASE)
    if suspected and not identifies and looks_random(node.value):
        return f"a long random text under the name {names[-1]!r} (not shown)"
    return ""


def _words(name: str) -> str:
    """`apiKey`, `X-API-Key` and `api_key` as lower-case words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _shown(place: Place) -> str:
    return ".".join("(not shown)" if why_secret(str(part)) else str(part) for part in place)
