"""Prompts as data: templates in files, with a name and a hash, replaceable by a user's own.

A set is the folder `prompts/` of a discipline's package, one jinja2 template a file, `<name>.txt`. A user's
folder holds `<discipline>/<name>.txt` for the templates to replace; the others stay.
"""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from triathlon_runner.errors import UserError

_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=False)


@functools.lru_cache(maxsize=256)
def _template(text: str) -> Template:
    """Compiled once: a runtime suite renders thousands of questions from a dozen templates."""
    return _ENVIRONMENT.from_string(text)


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The templates of one discipline."""

    name: str
    """`built-in`, or the name of the folder that replaces some of it."""
    templates: Mapping[str, str]

    @property
    def sha256(self) -> str:
        """Hash of the whole set; where the set came from has no part in it."""
        return self.digest(*self.templates)

    def digest(self, *names: str) -> str:
        """Hash of some templates, so that a protocol depends only on what it uses."""
        parts = (f"{name}\0{self.templates[name]}\0" for name in sorted(names))
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def render(self, name: str, **values: object) -> str:
        """The prompt; the last line end of its file is no part of it.

        Raises:
            UserError: the template is broken or asks for a value that this discipline does not give.
        """
        try:
            return _template(self.templates[name]).render(values)
        except TemplateError as error:
            given = ", ".join(sorted(values))
            raise UserError(
                f"prompt {name!r} of the set {self.name!r}: {error}. It may use {given}; mend the template."
            ) from error


def load_prompts(discipline: str, folder: Path | None = None) -> PromptSet:
    """The prompts of a discipline, with those in `folder/<discipline>/` in place of ours.

    Raises:
        UserError: the folder is not there, or holds a file that no prompt of the discipline is named after.
    """
    root = files("triathlon_runner") / discipline / "prompts"
    ours = {
        entry.name.removesuffix(".txt"): entry.read_text("utf-8")
        for entry in root.iterdir()
        if entry.name.endswith(".txt")
    }
    if folder is None:
        return PromptSet("built-in", ours)
    if not folder.is_dir():
        raise UserError(f"--prompts expects a folder; {str(folder)!r} is none. Give one that exists.")
    theirs = {path.stem: path.read_text("utf-8") for path in sorted((folder / discipline).glob("*.txt"))}
    unknown = sorted(theirs.keys() - ours.keys())
    if unknown:
        raise UserError(
            f"{str(folder / discipline)!r} holds {unknown[0] + '.txt'!r}, no prompt of {discipline}. "
            f"Expected names: {', '.join(sorted(ours))}."
        )
    return PromptSet(folder.name if theirs else "built-in", ours | theirs)
