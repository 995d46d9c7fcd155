"""Programs that run inside the sandbox: read as text here, never executed by the runner.

They use the standard library alone, as nothing else is installed in the sandbox. A program is sent as one
text, which contains the files that it imports from this folder.
"""

import functools
from importlib.resources import files
from typing import Final

_FILES: Final = {
    "tracer": ("literal", "programs", "statements", "tracer"),
    "programs": ("literal", "programs"),
    "next_event": ("literal", "programs", "next_event"),
}
_LOADER: Final = """
import sys
from types import ModuleType

for _name, _text in {parts!r}:
    sys.modules[_name] = _module = ModuleType(_name)
    exec(compile(_text, _name, "exec", dont_inherit=True), _module.__dict__)
globals().update(_module.__dict__)
"""


@functools.cache
def source(name: str) -> str:
    """The text of a program of this folder, complete."""
    folder = files(__name__)
    parts = [(f"{__name__}.{part}", (folder / f"{part}.py").read_text("utf-8")) for part in _FILES[name]]
    return _LOADER.format(parts=parts)
