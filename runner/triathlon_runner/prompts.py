"""Prompts as data: templates in files, with a name and a hash, replaceable by a user's own.

A set is the folder `prompts/` of a discipline's package, one jinja2 template a file, `<name>.txt`. A user's
folder (`--prompts`) holds `<discipline>/<name>.txt` for the templates to replace; the others stay.
"""

import functools
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import ImmutableSandboxedEnvironment

from triathlon_runner.errors import UserError

_COMPARED: Final = ("first_prompt", "second_prompt")
ESSENTIAL: Final = frozenset(
    {"task", "code", "description", "prompt", "program", "problem", "parents", *_COMPARED}
)
"""Values that differ from task to task: a replacement of a template that uses one must use it too."""

BUILT_IN: Final = "built-in"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

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

    def digest(self, *names: str) -> str:
        """Hash of some templates, so that a settings hash depends only on what its suite uses.

        Where the set came from has no part in it.
        """
        parts = (f"{name}\0{self.templates[name]}\0" for name in sorted(names))
        return hashlib.sha256("".join(parts).encode()).hexdigest()

    def render(self, name: str, **values: object) -> str:
        """The prompt, without the line end at the end of its file.

        Raises:
            UserError: the template is broken or asks for a value that this discipline does not give.
        """
        try:
            return _template(self.templates[name]).render(values)
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            names, why = ", ".join(sorted(values)), str(error).rstrip(".")
            raise UserError(
                f"prompt {name!r} of the set {self.name!r}: {why}. It may use {names}; fix the template."
            ) from error


def template_of(text: str, values: Mapping[str, str]) -> str:
    """Returns a text with places `{name}`, as the authors' files have them, as one of our templates.

    `values` are our names for the values, by the names in the file.
    """
    replaced = _PLACEHOLDER.sub(
        lambda place: f"{{{{ {values[place[1]]} }}}}" if place[1] in values else place[0], text
    )
    return f"{replaced}\n"  # rendering leaves out the last line end


def load_prompts(discipline: str, folder: Path | None = None) -> PromptSet:
    """Returns the prompts of a discipline, with those in `folder/<discipline>/` in place of ours.

    Raises:
        UserError: the folder is not there, or holds a template that is broken or that no prompt of the
            discipline is named after.
    """
    ours = _built_in(f"triathlon_runner.{discipline}")
    if folder is None:
        return PromptSet(BUILT_IN, ours)
    if not folder.is_dir():
        raise UserError(f"--prompts expects a folder; {str(folder)!r} is none. Give one that exists.")
    theirs = {path.stem: _read(path, ours) for path in sorted((folder / discipline).glob("*.txt"))}
    return PromptSet(folder.name if theirs else BUILT_IN, {**ours, **theirs})


@functools.cache
def _built_in(package: str) -> Mapping[str, str]:
    root = files(package) / "prompts"
    return {
        entry.name.removesuffix(".txt"): entry.read_text("utf-8")
        for entry in root.iterdir()
        if entry.name.endswith(".txt")
    }


def _read(path: Path, ours: Mapping[str, str]) -> str:
    """A user's template, which may use the values that ours of its name uses."""
    our_text = ours.get(path.stem)
    if our_text is None:
        raise UserError(
            f"{str(path.parent)!r} holds {path.name!r}, no prompt of {path.parent.name}. "
            f"Expected names: {', '.join(sorted(ours))}."
        )
    try:
        text = path.read_text("utf-8")
        used = find_undeclared_variables(_ENVIRONMENT.parse(text))
    except (OSError, UnicodeDecodeError, TemplateError) as error:
        why = str(error).rstrip(".")
        raise UserError(f"the prompt {str(path)!r} is no template: {why}. Fix it.") from None
    allowed = find_undeclared_variables(_ENVIRONMENT.parse(our_text))
    if unknown := sorted(used - allowed):
        may = f"it may use {', '.join(sorted(allowed))}" if allowed else "it takes no values"
        raise UserError(f"the prompt {str(path)!r} asks for {unknown[0]!r}; {may}. Fix it.")
    if missing := sorted(allowed & ESSENTIAL - used):
        raise UserError(
            f"the prompt {str(path)!r} lacks {{{{ {missing[0]} }}}}, so that it would ask the same of every"
            " task. Put it in."
        )
    return text
